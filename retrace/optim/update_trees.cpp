#include "retrace/optim/update_trees.h"

#include <fmt/format.h>

#include <cmath>

#include "retrace/base/double_math.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/expm1/expm1.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/negate/negate.h"
#include "retrace/ops/op.h"
#include "retrace/ops/stored_state/stored_state_op.h"

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

Tree part_of(const Tree& tree, const std::vector<size_t>& places) {
  const auto named = leaves(tree);
  Tree part;
  for (const size_t place : places) {
    const auto& [path, tensor] = named[place];
    Tree* at = &part;
    for (std::string_view rest = path; !rest.empty();) {
      const size_t end = rest.find('/');
      at = &(*at)[rest.substr(0, end)];
      rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
    *at = tensor;
  }
  return part;
}

Tree with_part(const Tree& tree, const std::vector<size_t>& places, const Tree& part) {
  auto all = leaf_tensors(tree);
  const auto made = leaf_tensors(part);
  for (size_t i = 0; i < places.size(); ++i) all[places[i]] = made[i];
  return with_leaves(tree, all);
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

double rounded_to(DType type, double option) { return type == DType::f64 ? option : static_cast<float>(option); }

Tensor one_minus_power(double decay, const Tensor& t, Place place) {
  const Tensor logarithm = Tensor::full(double_math::log(decay), {}, t.type());
  return negate(expm1(multiply(t, logarithm, place), place), place);
}

Tensor moving_mean(const Tensor& mean, const Tensor& x, double decay) {
  const double own = rounded_to(x.type(), decay);
  const auto number = [&](double value) { return Tensor::full(value, {}, x.type()); };
  return stored_state(add(multiply(number(own), mean), multiply(number(1 - own), x)));
}

Tensor next_step(const Tensor& step, Place place) {
  return add(step.defined() ? step : Tensor::scalar(int32_t{0}), constant(1, DType::i32), place);
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
