// How ops compute all elements of a batch at once. A rule stands here only where the order of no sum depends on the
// number of elements (docs/numerics.md 2, 3): the sum over k of a product, a reduction of the same axes by row or by
// column, which the last axis decides.
#include <algorithm>

#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/vmap/batched.h"

namespace retrace {
namespace {

using Rule = std::vector<Tensor> (*)(const BatchedCall& call);

Shape in_front(int64_t first, const Shape& others) {
  Shape all{first};
  for (const int64_t size : others) all.push_back(size);
  return all;
}

Shape shifted(const Shape& axes) {
  Shape all;
  for (const int64_t axis : axes) all.push_back(axis + 1);
  return all;
}

Tensor unlabelled(const Tensor& x, Place place) { return x.labels().empty() ? x : reshape(x, x.shape(), "", place); }

std::vector<Tensor> all_tensors(const BatchedCall& call) {
  std::vector<Tensor> tensors;
  for (const BatchedValue& value : call.inputs) tensors.push_back(value.tensor);
  return tensors;
}

std::vector<Tensor> all_mapped(const BatchedCall& call) {
  std::vector<Tensor> tensors;
  for (const BatchedValue& value : call.inputs) tensors.push_back(as_mapped(value, call.count, call.place));
  return tensors;
}

// -- by what an op states ---------------------------------------------------------------------------------------

// Each element of the result of the elements at its place.
bool is_pointwise(const BatchedCall& call) {
  if ((!call.op.rule && !call.op.integer && !call.op.elementwise) || call.output_elements.size() != 1) return false;
  Shape all = call.input_elements[0].shape;
  for (const TensorSpec& element : call.input_elements) {
    Shape merged;
    if (!broadcast_shapes(all, element.shape, merged)) return false;
    all = merged;
  }
  return all == call.output_elements[0].shape;
}

std::vector<Tensor> pointwise_rule(const BatchedCall& call) {
  const int rank = call.output_elements[0].shape.rank();
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const auto& [tensor, mapped] = call.inputs[i];
    const Shape& element = call.input_elements[i].shape;
    Shape shape{call.count};
    for (int k = element.rank(); k < rank; ++k) shape.push_back(1);
    for (const int64_t size : element) shape.push_back(size);
    inputs.push_back(mapped ? reshape(tensor, shape, "", call.place) : unlabelled(tensor, call.place));
  }
  return record(call.op, call.attributes, inputs, call.place);
}

// The samples of all elements as one axis, where a sample of each output needs that sample alone of some inputs.
std::vector<Tensor> samples_rule(const BatchedCall& call) {
  const auto fold = [&](const Shape& element) {
    Shape all = element;
    all[0] *= call.count;
    return all;
  };
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Shape& element = call.input_elements[i].shape;
    const bool cut = (call.op.cut >> i & 1) != 0;
    if ((!cut && call.inputs[i].mapped) || (cut && element.rank() == 0)) return {};
    inputs.push_back(cut ? reshape(as_mapped(call.inputs[i], call.count, call.place), fold(element), "", call.place)
                         : unlabelled(call.inputs[i].tensor, call.place));
  }
  for (const TensorSpec& element : call.output_elements)
    if (element.shape.rank() == 0) return {};
  auto outputs = record(call.op, call.attributes, inputs, call.place);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Shape& element = call.output_elements[i].shape;
    ensure(outputs[i].shape() == fold(element), "an op that is cut along the samples has them in front");
    outputs[i] = reshape(outputs[i], in_front(call.count, element), "", call.place);
  }
  return outputs;
}

// -- by name ----------------------------------------------------------------------------------------------------

std::vector<Tensor> same_attributes(const BatchedCall& call) {
  return record(call.op, call.attributes, all_mapped(call), call.place);
}

std::vector<Tensor> reshape_rule(const BatchedCall& call) {
  const Shape shape = in_front(call.count, call.output_elements[0].shape);
  return {reshape(call.inputs[0].tensor, shape, "", call.place)};
}

std::vector<Tensor> broadcast_rule(const BatchedCall& call) {
  const Shape &from = call.input_elements[0].shape, &to = call.output_elements[0].shape;
  Shape apart{call.count};
  for (int k = from.rank(); k < to.rank(); ++k) apart.push_back(1);
  for (const int64_t size : from) apart.push_back(size);
  const Tensor x = reshape(call.inputs[0].tensor, apart, "", call.place);
  const Shape all = in_front(call.count, to);
  if (apart == all) return {x};
  return record(call.op, {{"shape", all}, {"labels", std::string()}}, std::span(&x, 1), call.place);
}

std::vector<Tensor> transpose_rule(const BatchedCall& call) {
  const Shape order = in_front(0, shifted(call.attributes.list("permutation")));
  return record(call.op, {{"permutation", order}}, all_tensors(call), call.place);
}

// The attributes with axes counted behind that of the elements.
std::vector<Tensor> axes_rule(const BatchedCall& call) {
  const int rank = call.input_elements[0].shape.rank();
  if (rank == 0) return {};
  Attributes attributes = call.attributes;
  for (Attribute& attribute : attributes.entries()) {
    if (attribute.name == "axes") attribute.value = shifted(std::get<Shape>(attribute.value));
    if (attribute.name != "axis") continue;
    const int64_t axis = std::get<int64_t>(attribute.value);
    attribute.value = axis < 0 ? axis + rank + 1 : axis + 1;
  }
  return record(call.op, attributes, all_mapped(call), call.place);
}

std::vector<Tensor> slice_rule(const BatchedCall& call) {
  const auto list = [&](const char* name, int64_t first) { return in_front(first, call.attributes.list(name)); };
  return record(call.op, {{"begin", list("begin", 0)}, {"end", list("end", call.count)}, {"step", list("step", 1)}},
                all_tensors(call), call.place);
}

std::vector<Tensor> pad_rule(const BatchedCall& call) {
  const auto list = [&](const char* name, int64_t first) { return in_front(first, call.attributes.list(name)); };
  return record(call.op, {{"shape", list("shape", call.count)}, {"begin", list("begin", 0)}, {"step", list("step", 1)}},
                all_tensors(call), call.place);
}

// Rows of one table for all elements.
std::vector<Tensor> table_rule(const BatchedCall& call) {
  if (call.inputs[0].mapped) return {};
  const Tensor inputs[] = {unlabelled(call.inputs[0].tensor, call.place), call.inputs[1].tensor};
  return record(call.op, call.attributes, inputs, call.place);
}

std::vector<Tensor> matmul_rule(const BatchedCall& call) {
  const auto &a = call.inputs[0], &b = call.inputs[1];
  const MatmulOptions options{call.attributes.integer("transpose_a") != 0, call.attributes.integer("transpose_b") != 0};
  const Shape& y = call.output_elements[0].shape;
  const Tensor left = unlabelled(a.tensor, call.place), right = unlabelled(b.tensor, call.place);
  if (y.rank() == 2 && !b.mapped && !options.transpose_a) {  // the rows of all elements as those of one matrix
    const Tensor rows = reshape(left, {left.shape()[0] * left.shape()[1], left.shape()[2]}, "", call.place);
    return {reshape(matmul(rows, right, options, call.place), in_front(call.count, y), "", call.place)};
  }
  return {matmul(left, right, options, call.place)};
}

struct NamedRule {
  std::string_view op;
  Rule rule;
};

constexpr NamedRule kRules[] = {
    {"reshape", reshape_rule},
    {"broadcast", broadcast_rule},
    {"transpose", transpose_rule},
    {"identity", same_attributes},
    {"stop_gradient", same_attributes},
    {"recomputed", same_attributes},
    {"sum", axes_rule},
    {"max", axes_rule},
    {"first_maximum", axes_rule},
    {"argmax", axes_rule},
    {"moments", axes_rule},
    {"softmax", axes_rule},
    {"concatenate", axes_rule},
    {"flip", axes_rule},
    {"cumsum", axes_rule},
    {"cumprod", axes_rule},
    {"linear_recurrence", axes_rule},
    {"slice", slice_rule},
    {"pad", pad_rule},
    {"gather_rows", table_rule},
    {"class_numbers", table_rule},
    {"matmul", matmul_rule},
};

}  // namespace

std::vector<Tensor> batched_by_rule(const BatchedCall& call) {
  for (const NamedRule& named : kRules)
    if (named.op == call.op.name) return named.rule(call);
  if (is_pointwise(call)) return pointwise_rule(call);
  if (call.op.cut != 0 && !goes_along_samples(call.op, call.attributes)) return samples_rule(call);
  return {};
}

}  // namespace retrace
