#include <algorithm>
#include <unordered_map>

#include "retrace/base/hash.h"
#include "retrace/plan/pass.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

// Of a node with these inputs.
uint64_t key_of(const Node& node, const std::vector<ValueId>& inputs) {
  uint64_t key = hash_combine(hash_bytes(node.op->name), node.attributes.hash());
  for (ValueId id : inputs) key = hash_combine(key, static_cast<uint64_t>(id));
  return key;
}

// Labels are not computed; values that differ in them only are still told apart.
bool same_outputs(const Trace& a, const Node& in_a, const Trace& b, const Node& in_b) {
  const auto of_a = a.specs_of(in_a), of_b = b.specs_of(in_b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
}

// Nodes with equal op, attributes and inputs have equal outputs: draws too, since their key and number are inputs and
// attributes.
Trace merge_common(Trace trace, const PlanOptions&) {
  Rewriter rewrite(trace);
  std::unordered_multimap<uint64_t, size_t> seen;  // key -> node of the new trace
  seen.reserve(trace.nodes.size());
  std::vector<ValueId> inputs;
  for (const auto& node : trace.nodes) {
    inputs.clear();
    for (ValueId id : node.inputs) inputs.push_back(rewrite(id));
    const uint64_t key = key_of(node, inputs);
    const auto [first, last] = seen.equal_range(key);
    const auto found = std::find_if(first, last, [&](const auto& entry) {
      const Node& other = rewrite.to().nodes[entry.second];
      return node.op == other.op && !node.op->collective && !node.body && !other.body && inputs == other.inputs &&
             node.attributes == other.attributes && same_outputs(rewrite.to(), other, trace, node);
    });
    if (found == last) {
      rewrite.copy(node);
      seen.emplace(key, rewrite.to().nodes.size() - 1);
      continue;
    }
    const Node& other = rewrite.to().nodes[found->second];
    for (int i = 0; i < node.output_count; ++i) rewrite.replace(node.first_output + i, other.first_output + i);
  }
  return rewrite.finish();
}

}  // namespace

Pass merge_common_pass() {
  return {.name = "merge_common", .purpose = "equal nodes are computed once", .run = merge_common, .cuda = true};
}

}  // namespace retrace
