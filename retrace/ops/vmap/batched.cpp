#include "retrace/ops/vmap/batched.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/custom_gradient/custom_gradient.h"
#include "retrace/ops/op.h"
#include "retrace/ops/recorded_body.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {
namespace {

Shape with_elements(int64_t count, const Shape& element) {
  Shape all{count};
  for (const int64_t size : element) all.push_back(size);
  return all;
}

// -- one element after another ----------------------------------------------------------------------------------

std::vector<Tensor> one_by_one(const BatchedCall& call) {
  std::vector<std::vector<Tensor>> made(call.output_elements.size());
  for (int64_t i = 0; i < call.count; ++i) {
    std::vector<Tensor> inputs;
    for (size_t k = 0; k < call.inputs.size(); ++k) {
      const auto& [tensor, mapped] = call.inputs[k];
      const TensorSpec& element = call.input_elements[k];
      inputs.push_back(mapped
                           ? reshape(select(tensor, 0, i, call.place), element.shape, element.labels.text(), call.place)
                           : tensor);
    }
    const auto outputs = record(call.op, call.attributes, inputs, call.place);
    for (size_t k = 0; k < made.size(); ++k) made[k].push_back(reshape(outputs[k], outputs[k].shape(), "", call.place));
  }
  std::vector<Tensor> all;
  for (size_t k = 0; k < made.size(); ++k) {
    const TensorSpec& element = call.output_elements[k];
    all.push_back(call.count > 0 ? stack(made[k], 0, call.place)
                                 : Tensor::zeros(with_elements(0, element.shape), element.type));
  }
  return all;
}

// -- ops that are defined in others -----------------------------------------------------------------------------

Tree tree_of(std::span<const Tensor> tensors) {
  Tree tree;
  for (size_t i = 0; i < tensors.size(); ++i) tree[fmt::format("{:06}", i)] = tensors[i];
  return tree;
}

// What a function of elements of these specs records, for all elements.
std::vector<Tensor> batched_function(const BatchedCall& call, std::span<const TensorSpec> elements,
                                     std::vector<BatchedValue> values,
                                     FunctionRef<std::vector<Tensor>(std::span<const Tensor>)> function) {
  const RecordedBody body = record_body("vmap", elements, function, call.place);
  for (const Tensor& used : body.used) values.push_back({used, false});
  std::vector<Tensor> outputs;
  for (const BatchedValue& value : record_batched(body.trace, std::move(values), call.count))
    outputs.push_back(as_mapped(value, call.count, call.place));
  return outputs;
}

std::vector<BatchedValue> marked_as(const BatchedCall& call, std::span<const Tensor> tensors) {
  std::vector<BatchedValue> values;
  for (size_t i = 0; i < tensors.size(); ++i) values.push_back({tensors[i], call.inputs[i].mapped});
  return values;
}

std::vector<Tensor> batched_definition(const BatchedCall& call, std::span<const Tensor> inputs) {
  return batched_function(call, call.input_elements, marked_as(call, inputs),
                          [&](std::span<const Tensor> in) { return call.op.lower({call.attributes, in, call.place}); });
}

// The op's own gradient for one element, of values x, y, dy in this order.
std::vector<Tensor> gradient_of_element(const BatchedCall& call, std::span<const Tensor> values) {
  const size_t n = call.inputs.size(), m = call.output_elements.size();
  const auto needed = std::make_unique<bool[]>(n);
  for (size_t i = 0; i < n; ++i) needed[i] = is_float(call.input_elements[i].type);
  auto found = call.op.gradient({call.attributes, values.first(n), values.subspan(n, m), values.last(m),
                                 std::span<const bool>(needed.get(), n), call.place});
  for (size_t i = 0; i < n; ++i)
    if (!found[i].defined() || !needed[i]) {
      const TensorSpec& x = call.input_elements[i];
      found[i] = broadcast(constant(0, is_float(x.type) ? x.type : DType::f32), x.shape, x.labels.text(), call.place);
    }
  return found;
}

// The gradients of all elements; of an input that is one for all elements, their sum.
std::vector<Tensor> batched_gradient(const BatchedCall& call, const Tree& x, const Tree& y, const Tree& dy) {
  const auto inputs = leaf_tensors(x), outputs = leaf_tensors(y), cotangents = leaf_tensors(dy);
  std::vector<TensorSpec> elements(call.input_elements.begin(), call.input_elements.end());
  std::vector<BatchedValue> values = marked_as(call, inputs);
  for (const auto& all : {outputs, cotangents}) {
    elements.insert(elements.end(), call.output_elements.begin(), call.output_elements.end());
    for (const Tensor& tensor : all) values.push_back({tensor, true});
  }
  auto found = batched_function(call, elements, values,
                                [&](std::span<const Tensor> in) { return gradient_of_element(call, in); });
  for (size_t i = 0; i < found.size(); ++i)
    if (!call.inputs[i].mapped)
      found[i] = reshape(sum(found[i], 0, {}, call.place), inputs[i].shape(), inputs[i].labels(), call.place);
  return found;
}

// The definition, with the gradient that the op has: it may be another than that of the definition.
std::vector<Tensor> by_definition(const BatchedCall& call) {
  std::vector<Tensor> inputs;
  for (const BatchedValue& value : call.inputs) inputs.push_back(value.tensor);
  if (!call.op.gradient) return batched_definition(call, inputs);
  return leaf_tensors(custom_gradient(
      [&](const Tree& x) { return tree_of(batched_definition(call, leaf_tensors(x))); },
      [&](const Tree& x, const Tree& y, const Tree& dy) { return tree_of(batched_gradient(call, x, y, dy)); },
      tree_of(inputs), call.place));
}

std::vector<Tensor> record_mapped(const BatchedCall& call) {
  auto outputs = batched_by_rule(call);
  if (!outputs.empty()) return outputs;
  if (call.op.lower && !call.op.loop) return by_definition(call);
  return one_by_one(call);
}

}  // namespace

Tensor as_mapped(const BatchedValue& value, int64_t count, Place place) {
  if (value.mapped) return value.tensor;
  const Shape& shape = value.tensor.shape();
  return broadcast(reshape(value.tensor, with_elements(1, shape), "", place), with_elements(count, shape), "", place);
}

std::vector<BatchedValue> record_batched(const Trace& trace, std::vector<BatchedValue> inputs, int64_t count) {
  std::vector<BatchedValue> values(trace.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[static_cast<size_t>(trace.inputs[i])] = inputs[i];
  for (const Node& node : trace.nodes) {
    std::vector<BatchedValue> of_node;
    std::vector<Tensor> tensors;
    std::vector<TensorSpec> elements;
    for (const ValueId id : node.inputs) {
      of_node.push_back(values[static_cast<size_t>(id)]);
      tensors.push_back(of_node.back().tensor);
      elements.push_back(trace.spec(id));
    }
    const bool mapped = std::any_of(of_node.begin(), of_node.end(), [](const BatchedValue& v) { return v.mapped; });
    const auto outputs =
        mapped ? record_mapped({*node.op, node.attributes, of_node, elements, trace.specs_of(node), count, node.place})
               : record(*node.op, node.attributes, tensors, node.place);
    for (size_t i = 0; i < outputs.size(); ++i)
      values[static_cast<size_t>(node.first_output + i)] = {outputs[i], mapped};
  }
  std::vector<BatchedValue> outputs;
  for (const ValueId id : trace.outputs) outputs.push_back(values[static_cast<size_t>(id)]);
  return outputs;
}

}  // namespace retrace
