#include "retrace/ops/checkpoint/checkpoint.h"

#include "retrace/ops/checkpoint/checkpoint_gradient.h"
#include "retrace/ops/recorded_body.h"

namespace retrace {
namespace {

// Attributes may come from a text.
std::vector<TensorSpec> infer_checkpoint(const InferCall& call) {
  const Trace& body = *call.attributes.trace("body");
  const auto fits = [&](size_t i) {
    const TensorSpec& asked = body.spec(body.inputs[i]);
    return asked.type == call.inputs[i].type && asked.shape == call.inputs[i].shape;
  };
  bool all = body.inputs.size() == call.inputs.size();
  for (size_t i = 0; all && i < call.inputs.size(); ++i) all = fits(i);
  if (!all)
    op_error(call, 285, "the recorded function does not fit its inputs", fmt::format("{} inputs", call.inputs.size()),
             "inputs of the types and shapes that it was recorded with");
  std::vector<TensorSpec> outputs;
  for (const ValueId id : body.outputs) outputs.push_back(body.spec(id));
  return outputs;
}

std::vector<Tensor> lower_checkpoint(const LowerCall& call) {
  return current_recording()->splice(*call.attributes.trace("body"), call.inputs, {}, call.place);
}

std::vector<TensorSpec> infer_recomputed(const InferCall& call) { return {call.inputs[0]}; }
std::vector<Tensor> recomputed_gradient(const GradientCall& call) {
  return {recomputed(call.cotangents[0], call.place)};
}

Tree record_checkpoint(FunctionRef<Tree(const Tree&)> f, const Tree& x, Place place) {
  std::vector<Tensor> inputs = leaf_tensors(x);
  std::vector<TensorSpec> specs;
  for (const Tensor& input : inputs) specs.push_back(input.spec());
  Tree structure;
  const auto call = [&](std::span<const Tensor> in) {
    structure = f(with_leaves(x, in));
    return leaf_tensors(structure);
  };
  const RecordedBody made = record_body("checkpoint", specs, call, place);
  inputs.insert(inputs.end(), made.used.begin(), made.used.end());
  static const Op& op = find_op("checkpoint");
  return with_leaves(structure, record(op, {{"body", std::make_shared<const Trace>(made.trace)}}, inputs, place));
}

}  // namespace

Tree checkpoint(FunctionRef<Tree(const Tree& x)> f, const Tree& x, Place place) {
  return with_place(place, [&] { return record_checkpoint(f, x, place); });
}

Tensor recomputed(const Tensor& x, Place place) {
  static const Op& op = find_op("recomputed");
  return record_one(op, {}, {x}, place);
}

void define_checkpoint(OpTable& table) {
  table.add({.name = "checkpoint",
             .inputs = -1,
             .attributes = {"body"},
             .infer = infer_checkpoint,
             .gradient = checkpoint_gradient,
             .lower = lower_checkpoint,
             .any_type = true});
  table.add({.name = "recomputed", .infer = infer_recomputed, .gradient = recomputed_gradient, .view = true});
}

}  // namespace retrace
