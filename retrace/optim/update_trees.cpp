#include "retrace/optim/update_trees.h"

#include <fmt/format.h>

#include <cmath>

#include "retrace/ops/cast/cast.h"

namespace retrace {
namespace {

// Texts are made only when something is wrong.
std::string path_of(const Tree& tree, size_t leaf) { return leaves(tree)[leaf].first; }

// The trees have one structure: that each leaf has the shape and type of its parameter.
void check_leaves(const char* name, const char* entry, const Tree& parameters, const Tree& tree, Place place) {
  const auto expected = leaf_tensors(parameters), got = leaf_tensors(tree);
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto &parameter = expected[i], &tensor = got[i];
    if (tensor.shape() == parameter.shape() && tensor.type() == parameter.type()) continue;
    throw Error(ErrorKind::usage, 181,
                fmt::format("{}: the {} of \"{}\" has another shape or type", name, entry, path_of(parameters, i)))
        .where(place)
        .got(tensor.spec().text())
        .expected(fmt::format("{}, as the parameter", parameter.spec().text()));
  }
}

}  // namespace

void check_gradients(const char* name, const Tree& parameters, const Tree& gradients, Place place) {
  check_same_structure(parameters, gradients, fmt::format("{}, parameters and gradients", name).c_str(), place);
  check_leaves(name, "gradient", parameters, gradients, place);
  const auto all = leaf_tensors(parameters);
  for (size_t i = 0; i < all.size(); ++i)
    if (!is_float(all[i].type()))
      throw Error(ErrorKind::usage, 183,
                  fmt::format("{}: the parameter \"{}\" is not a float tensor", name, path_of(parameters, i)))
          .where(place)
          .got(all[i].spec().text())
          .expected("f32 or f64");
}

std::vector<Tensor> state_leaves(const char* name, const char* entry, const Tree& parameters, const Tree& state,
                                 Place place) {
  if (state.empty()) {
    std::vector<Tensor> zeros;
    for (const auto& leaf : leaf_tensors(parameters))
      zeros.push_back(Tensor::zeros(leaf.shape(), leaf.type(), "", place).to(leaf.device(), place));
    return zeros;
  }
  check_same_structure(parameters, state, fmt::format("{}, parameters and {}", name, entry).c_str(), place);
  check_leaves(name, entry, parameters, state, place);
  return leaf_tensors(state);
}

Tree zeros_like(const Tree& tree) {
  return map(tree, [](const Tensor& tensor) { return Tensor::zeros(tensor.shape(), tensor.type()); });
}

void check_decay(const char* name, const char* option, double value, Place place) {
  if (value >= 0 && static_cast<float>(value) < 1) return;
  throw Error(ErrorKind::usage, 182, fmt::format("{}: {} is {}", name, option, value))
      .where(place)
      .expected("a number from 0 to below 1");
}

void check_rate(const char* name, const char* option, const Operand& value, Place place) {
  if (value.is_tensor() || value.is_traced() || (value.number() >= 0 && std::isfinite(value.number()))) return;
  throw Error(ErrorKind::usage, 182, fmt::format("{}: {} is {}", name, option, value.number()))
      .where(place)
      .expected("0 or a positive number");
}

const Tensor& Number::as(DType type) {
  Tensor& kept = type == DType::f64 ? f64_ : f32_;
  if (!kept.defined()) {
    kept = value_.as(type);
    if (kept.type() != type) kept = cast(kept, type);
  }
  return kept;
}

}  // namespace retrace
