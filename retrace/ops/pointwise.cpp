#include "retrace/ops/pointwise.h"

#include <algorithm>
#include <array>

#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {
namespace {

constexpr int kMaxInputs = 3;

// Union of two canonical label lists: S and U are matched in order of occurrence.
Labels merge_labels(const Labels& a, const Labels& b) {
  Labels merged;
  for (char label : {'B', 'T', 'S', 'C', 'U'}) {
    const auto in_a = std::count(a.text().begin(), a.text().end(), label);
    const auto in_b = std::count(b.text().begin(), b.text().end(), label);
    for (auto i = std::max(in_a, in_b); i > 0; --i) merged.push_back(label);
  }
  return merged;
}

// Gives x the axes of `labels`, those that it lacks with size 1.
Tensor with_axes(const Tensor& x, const Labels& labels, Place place) {
  if (x.spec().labels == labels) return x;
  Shape shape;
  int next = 0;
  for (char label : labels.text()) {
    const bool present = next < x.rank() && x.spec().labels[next] == label;
    shape.push_back(present ? x.shape()[next] : 1);
    next += present;
  }
  return reshape(x, shape, labels.text(), place);
}

void check_inputs_exist(const Op& op, std::initializer_list<Tensor> inputs, Place place) {
  for (const auto& input : inputs)
    if (!input.defined()) check_defined(op.name, input, place);
}

std::string texts_of(std::initializer_list<Tensor> inputs) {
  std::string all;
  for (const auto& input : inputs) all += (all.empty() ? "" : " and ") + input.spec().text();
  return all;
}

Tensor aligned_call(const Op& op, std::initializer_list<Tensor> inputs, const Labels& all, Place place) {
  std::array<Tensor, kMaxInputs> aligned;
  std::copy(inputs.begin(), inputs.end(), aligned.begin());
  for (auto& input : aligned)
    if (input.defined() && !input.spec().labels.empty()) input = with_axes(input, all, place);
  return record(op, {}, std::span(aligned).first(inputs.size()), place)[0];
}

}  // namespace

Tensor pointwise(const Op& op, std::initializer_list<Tensor> inputs, Place place) {
  check_inputs_exist(op, inputs, place);
  Labels all;
  bool mixed = false;
  for (const auto& input : inputs) {
    const Labels& labels = input.spec().labels;
    if (labels.empty()) continue;
    mixed |= !all.empty() && !(all == labels);
    all = all.empty() ? labels : merge_labels(all, labels);
  }
  if (!mixed) return record_one(op, {}, inputs, place);
  try {
    return aligned_call(op, inputs, all, place);
  } catch (Error& error) {  // with the shapes that were given, not the aligned ones
    if (error.code() == 135) error.got(texts_of(inputs));
    throw;
  }
}

TensorSpec infer_broadcast(const InferCall& call, DType type) {
  TensorSpec result{type, call.inputs[0].shape, {}, {}};
  for (const auto& input : call.inputs) {
    Shape merged;
    if (!broadcast_shapes(result.shape, input.shape, merged)) {
      std::string all;
      for (const auto& spec : call.inputs) all += (all.empty() ? "" : " and ") + spec.text();
      op_error(call, 135, "the sizes of the arguments do not fit", all,
               "equal sizes, or 1, for each axis (labelled axes by label, others from the last)");
    }
    result.shape = merged;
  }
  for (const auto& input : call.inputs) {
    if (result.labels.empty() && input.shape.rank() == result.shape.rank()) result.labels = input.labels;
    if (result.part.whole == 0) result.part = input.part;
  }
  for (const auto& input : call.inputs)
    if (!input.labels.empty() && input.shape.rank() < result.shape.rank())
      op_error(call, 136, "an unlabelled argument has more axes than a labelled one", input.text(),
               fmt::format("at most {} axes, as in the labelled argument", input.shape.rank()),
               "give it labels, or remove the labels of the other");
  return result;
}

std::vector<TensorSpec> infer_pointwise(const InferCall& call) {
  for (size_t i = 1; i < call.inputs.size(); ++i) check_same_type(call, static_cast<int>(i), "the other argument");
  return {infer_broadcast(call, call.inputs[0].type)};
}

std::vector<TensorSpec> infer_pointwise_float(const InferCall& call) {
  check_float(call, 0, "x");
  return infer_pointwise(call);
}

std::vector<TensorSpec> infer_comparison(const InferCall& call) {
  auto specs = infer_pointwise(call);
  specs[0].type = DType::boolean;
  return specs;
}

Tensor sum_to(const Tensor& gradient, const Tensor& like, Place place) {
  if (gradient.shape() == like.shape())
    return gradient.spec().labels == like.spec().labels ? gradient
                                                        : reshape(gradient, like.shape(), like.labels(), place);
  Shape axes;
  const int extra = gradient.rank() - like.rank();
  for (int i = 0; i < gradient.rank(); ++i)
    if (i < extra || (like.shape()[i - extra] == 1 && gradient.shape()[i] != 1)) axes.push_back(i);
  const Tensor summed = axes.empty() ? gradient : sum(gradient, axes, {}, place);
  return reshape(summed, like.shape(), like.labels(), place);
}

}  // namespace retrace
