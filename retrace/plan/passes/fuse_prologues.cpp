#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/tile_program.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

// The chain behind a reduction's first input, if only the reduction reads it.
const Node* absorbable(const Trace& trace, const Node& node, const std::vector<int>& uses) {
  if (!node.op->takes_prologue || node.body || trace.values[static_cast<size_t>(node.inputs[0])].type != DType::f32)
    return nullptr;
  const int32_t p = trace.producers[static_cast<size_t>(node.inputs[0])];
  if (p < 0 || uses[static_cast<size_t>(node.inputs[0])] != 1) return nullptr;
  const Node& producer = trace.nodes[static_cast<size_t>(p)];
  const bool chain = producer.op == &fused_op() || can_tile(trace, producer);
  return chain && producer.output_count == 1 ? &producer : nullptr;
}

std::shared_ptr<const Trace> body_of(const Trace& trace, const Node& producer, std::vector<ValueId>& inputs) {
  if (producer.body) {
    inputs = producer.inputs;
    return producer.body;
  }
  const size_t index = static_cast<size_t>(&producer - trace.nodes.data());
  auto extracted = extract(trace, std::span(&index, 1), std::span(&producer.first_output, 1));
  inputs = extracted.inputs;
  return std::make_shared<const Trace>(std::move(extracted.body));
}

}  // namespace

Trace fuse_prologues(const Trace& trace) {
  const auto uses = count_uses(trace);
  std::vector<const Node*> chains(trace.nodes.size());
  std::vector<bool> absorbed(trace.nodes.size());
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if ((chains[n] = absorbable(trace, trace.nodes[n], uses)))
      absorbed[static_cast<size_t>(chains[n] - trace.nodes.data())] = true;
  Rewriter rewrite(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (absorbed[n]) continue;
    const Node& old = trace.nodes[n];
    if (!chains[n]) {
      rewrite.copy(old);
      continue;
    }
    Node node = old;
    node.body = body_of(trace, *chains[n], node.inputs);
    for (ValueId& id : node.inputs) id = rewrite(id);
    const auto first = trace.values.begin() + old.first_output;
    const std::vector<TensorSpec> specs(first, first + old.output_count);
    const ValueId made = rewrite.to().add_node(std::move(node), specs);
    for (int i = 0; i < old.output_count; ++i) rewrite.replace(old.first_output + i, made + i);
  }
  return rewrite.finish();
}

}  // namespace retrace
