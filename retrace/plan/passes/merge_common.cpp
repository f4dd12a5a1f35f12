#include <unordered_map>

#include "retrace/base/hash.h"
#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

uint64_t key_of(const Node& node) {
  uint64_t key = hash_combine(hash_bytes(node.op->name), node.attributes.hash());
  for (ValueId id : node.inputs) key = hash_combine(key, static_cast<uint64_t>(id));
  return key;
}

bool same(const Node& a, const Node& b) {
  return a.op == b.op && !a.body && !b.body && a.inputs == b.inputs && a.attributes == b.attributes;
}

}  // namespace

// Nodes with equal op, attributes and inputs have equal outputs: draws too, since their key and number are inputs and
// attributes.
Trace merge_common(Trace trace) {
  Rewriter rewrite(trace);
  std::unordered_multimap<uint64_t, size_t> seen;  // key -> node of the new trace
  for (const auto& node : trace.nodes) {
    Node mapped = node;
    for (ValueId& id : mapped.inputs) id = rewrite(id);
    const uint64_t key = key_of(mapped);
    bool found = false;
    const auto [first, last] = seen.equal_range(key);
    for (auto at = first; at != last && !found; ++at) {
      const Node& other = rewrite.to().nodes[at->second];
      if (!same(mapped, other)) continue;
      // Labels are not computed; values that differ in them only are still told apart.
      bool labels = true;
      for (int i = 0; i < node.output_count; ++i)
        labels &= rewrite.to().values[static_cast<size_t>(other.first_output + i)] ==
                  trace.values[static_cast<size_t>(node.first_output + i)];
      if (!labels) continue;
      for (int i = 0; i < node.output_count; ++i) rewrite.replace(node.first_output + i, other.first_output + i);
      found = true;
    }
    if (found) continue;
    rewrite.copy(node);
    seen.emplace(key, rewrite.to().nodes.size() - 1);
  }
  return rewrite.finish();
}

}  // namespace retrace
