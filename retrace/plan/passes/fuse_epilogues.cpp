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

// Why a node that reads a contraction's result at its own shape cannot be computed on its tiles; "" if it can.
std::string_view refusal(const Trace& trace, const Node& node, ValueId raw, const Reach& reach, bool taken) {
  if (node.op != &fused_op() && !(can_tile(trace, node) && !node.body)) return "what reads it is not pointwise";
  if (!(trace.values[static_cast<size_t>(node.first_output)].shape == trace.values[static_cast<size_t>(raw)].shape))
    return "the shapes differ";
  if (taken) return "the chain is computed on another contraction's tiles";
  const bool alone =
      std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return id == raw || !reach.contains(id); });
  return alone ? "" : "it needs more that is made of the contraction's result";
}

// The first chain that reads the contraction's result at its own shape and nothing else that depends on it. Whoever
// else reads the raw result must stand behind the chain.
int find_chain(Trace& trace, size_t contraction, const std::vector<bool>& taken) {
  const ValueId raw = trace.nodes[contraction].first_output;
  const Reach reach(trace, contraction);
  int chain = -1;
  bool early = false;
  for (size_t n = contraction + 1; n < trace.nodes.size(); ++n) {
    const Node& node = trace.nodes[n];
    if (std::find(node.inputs.begin(), node.inputs.end(), raw) == node.inputs.end()) continue;
    auto why = refusal(trace, node, raw, reach, taken[n]);
    if (why.empty() && chain >= 0) why = "another chain is computed on the contraction's tiles";
    if (why.empty() && early) why = "others read the contraction's result before";
    if (why.empty())
      chain = static_cast<int>(n);
    else
      say_apart(trace, n, raw, why), early = true;
  }
  return chain;
}

// The chain's body with the raw result as its first input and, if it is read elsewhere, as its last output.
Extracted epilogue_of(const Trace& trace, size_t chain, ValueId raw, bool keep_raw) {
  const Node& node = trace.nodes[chain];
  Extracted made;
  if (node.body) {
    made = {*node.body, node.inputs, node.apart};
    made.apart.resize(made.inputs.size());
    const auto at = std::find(made.inputs.begin(), made.inputs.end(), raw) - made.inputs.begin();
    const auto to_front = [at](auto& list) { std::rotate(list.begin(), list.begin() + at, list.begin() + at + 1); };
    to_front(made.inputs), to_front(made.body.inputs), to_front(made.apart);
  } else {
    made = extract(trace, std::span(&chain, 1), std::span(&node.first_output, 1), raw);
  }
  if (keep_raw) made.body.outputs.push_back(made.body.inputs[0]);
  return made;
}

}  // namespace

// The merged node stands where the chain stood: its other inputs may be made after the contraction.
Trace fuse_epilogues(Trace trace) {
  const auto uses = count_uses(trace);
  std::vector<int> chain_of(trace.nodes.size(), -1), contraction_of(trace.nodes.size(), -1);
  std::vector<bool> taken(trace.nodes.size());
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (!takes_chain(trace, trace.nodes[n])) continue;
    const int chain = find_chain(trace, n, taken);
    if (chain < 0) continue;
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
    auto epilogue = epilogue_of(trace, n, raw, keep_raw);
    Node node = contraction;
    node.body = std::make_shared<const Trace>(std::move(epilogue.body));
    node.apart.resize(node.inputs.size());
    node.inputs.insert(node.inputs.end(), epilogue.inputs.begin() + 1, epilogue.inputs.end());
    node.apart.insert(node.apart.end(), epilogue.apart.begin() + 1, epilogue.apart.end());
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
