#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/tile_program.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

bool takes_chain(const Trace& trace, const Node& node) {
  return node.op->takes_epilogue && !node.body && node.output_count == 1 &&
         trace.values[static_cast<size_t>(node.first_output)].type == DType::f32;
}

// Whether `value` needs anything that `node` makes.
class Reach {
 public:
  Reach(const Trace& trace, size_t node) : trace_(trace), after_(trace.nodes.size()) {
    after_[node] = true;
    for (size_t n = node + 1; n < trace.nodes.size(); ++n)
      for (ValueId id : trace.nodes[n].inputs)
        if (const int32_t p = trace.producers[static_cast<size_t>(id)]; p >= 0 && after_[static_cast<size_t>(p)])
          after_[n] = true;
  }
  bool contains(ValueId id) const {
    const int32_t p = trace_.producers[static_cast<size_t>(id)];
    return p >= 0 && after_[static_cast<size_t>(p)];
  }

 private:
  const Trace& trace_;
  std::vector<bool> after_;
};

// The first chain that reads the contraction's result at its own shape and nothing else that depends on it.
int find_chain(const Trace& trace, size_t contraction, const std::vector<bool>& taken) {
  const ValueId raw = trace.nodes[contraction].first_output;
  const Reach reach(trace, contraction);
  for (size_t n = contraction + 1; n < trace.nodes.size(); ++n) {
    const Node& node = trace.nodes[n];
    if (std::find(node.inputs.begin(), node.inputs.end(), raw) == node.inputs.end() || taken[n]) continue;
    if (node.op != &fused_op() && !(can_tile(trace, node) && !node.body)) continue;
    if (!(trace.values[static_cast<size_t>(node.first_output)].shape == trace.values[static_cast<size_t>(raw)].shape))
      continue;
    const bool alone = std::all_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId id) { return id == raw || !reach.contains(id); });
    if (alone) return static_cast<int>(n);
  }
  return -1;
}

// The chain's body with the raw result as its first input and, if it is read elsewhere, as its last output.
Trace epilogue_body(const Trace& trace, size_t chain, ValueId raw, bool keep_raw, std::vector<ValueId>& inputs) {
  const Node& node = trace.nodes[chain];
  Trace body;
  if (node.body) {
    body = *node.body;
    inputs = node.inputs;
    const auto at = std::find(inputs.begin(), inputs.end(), raw) - inputs.begin();
    std::rotate(inputs.begin(), inputs.begin() + at, inputs.begin() + at + 1);
    std::rotate(body.inputs.begin(), body.inputs.begin() + at, body.inputs.begin() + at + 1);
  } else {
    auto extracted = extract(trace, std::span(&chain, 1), std::span(&node.first_output, 1), raw);
    body = std::move(extracted.body);
    inputs = extracted.inputs;
  }
  if (keep_raw) body.outputs.push_back(body.inputs[0]);
  return body;
}

}  // namespace

// The merged node stands where the chain stood: its other inputs may be made after the contraction.
Trace fuse_epilogues(const Trace& trace) {
  const auto uses = count_uses(trace);
  std::vector<int> chain_of(trace.nodes.size(), -1), contraction_of(trace.nodes.size(), -1);
  std::vector<bool> taken(trace.nodes.size());
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (!takes_chain(trace, trace.nodes[n])) continue;
    const int chain = find_chain(trace, n, taken);
    if (chain < 0) continue;
    // Whoever else reads the raw result must stand behind the chain.
    const ValueId raw = trace.nodes[n].first_output;
    bool early = false;
    for (size_t m = n + 1; m < static_cast<size_t>(chain); ++m)
      early |=
          std::find(trace.nodes[m].inputs.begin(), trace.nodes[m].inputs.end(), raw) != trace.nodes[m].inputs.end();
    if (early) continue;
    taken[static_cast<size_t>(chain)] = true;
    chain_of[n] = chain;
    contraction_of[static_cast<size_t>(chain)] = static_cast<int>(n);
  }
  Rewriter rewrite(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (chain_of[n] >= 0) continue;
    if (contraction_of[n] < 0) {
      rewrite.copy(trace.nodes[n]);
      continue;
    }
    const Node& contraction = trace.nodes[static_cast<size_t>(contraction_of[n])];
    const Node& chain = trace.nodes[n];
    const ValueId raw = contraction.first_output;
    const bool keep_raw = uses[static_cast<size_t>(raw)] > 1;
    std::vector<ValueId> extra;
    Node node = contraction;
    node.body = std::make_shared<const Trace>(epilogue_body(trace, n, raw, keep_raw, extra));
    node.inputs.insert(node.inputs.end(), extra.begin() + 1, extra.end());
    for (ValueId& id : node.inputs) id = rewrite(id);
    std::vector<TensorSpec> specs;
    for (int i = 0; i < chain.output_count; ++i)
      specs.push_back(trace.values[static_cast<size_t>(chain.first_output + i)]);
    if (keep_raw) specs.push_back(trace.values[static_cast<size_t>(raw)]);
    const ValueId made = rewrite.to().add_node(std::move(node), specs);
    for (int i = 0; i < chain.output_count; ++i) rewrite.replace(chain.first_output + i, made + i);
    if (keep_raw) rewrite.replace(raw, made + chain.output_count);
  }
  return rewrite.finish();
}

}  // namespace retrace
