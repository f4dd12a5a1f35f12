#include <algorithm>

#include "retrace/ops/loop.h"
#include "retrace/plan/pass.h"

namespace retrace {
namespace {

// Whether loop b computes what loop a does, and more results of the same steps: gradients record such loops, which keep
// what their steps need.
bool extends(const Node& a, const Node& b) {
  if (a.inputs != b.inputs) return false;
  const Loop of_a(a.attributes), of_b(b.attributes);
  if (of_a.length != of_b.length || of_a.carries != of_b.carries || of_a.sequences != of_b.sequences ||
      of_a.reverse != of_b.reverse || of_a.history != of_b.history || of_a.results() >= of_b.results() ||
      of_a.body->nodes.size() != of_b.body->nodes.size())
    return false;
  Trace trimmed = *of_b.body;
  trimmed.outputs.resize(of_a.body->outputs.size());
  return trimmed == *of_a.body;
}

// For each node the later loop that takes its place, or kNoNode; `moved`: whether it takes another's.
std::vector<size_t> find_extended(const Trace& trace, std::vector<bool>& moved) {
  std::vector<size_t> by(trace.nodes.size(), kNoNode);
  for (size_t a = 0; a < trace.nodes.size(); ++a) {
    if (!trace.nodes[a].op->loop || moved[a]) continue;
    for (size_t b = a + 1; b < trace.nodes.size() && by[a] == kNoNode; ++b)
      if (trace.nodes[b].op->loop && !moved[b] && extends(trace.nodes[a], trace.nodes[b])) by[a] = b, moved[b] = true;
  }
  return by;
}

Trace merge_loops(Trace trace, const PlanOptions&) {
  if (std::none_of(trace.nodes.begin(), trace.nodes.end(), [](const Node& node) { return node.op->loop; }))
    return trace;
  std::vector<bool> moved(trace.nodes.size());
  const auto by = find_extended(trace, moved);
  Rewriter rewrite(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    const Node& node = trace.nodes[n];
    if (moved[n]) continue;
    if (by[n] == kNoNode) {
      rewrite.copy(node);
      continue;
    }
    const Node& other = trace.nodes[by[n]];
    rewrite.copy(other);
    const Loop loop(node.attributes), more(other.attributes);
    const auto own = static_cast<int>(loop.carries + loop.results());
    const auto further = static_cast<int>(more.results() - loop.results());
    for (int i = 0; i < node.output_count; ++i)
      rewrite.replace(node.first_output + i, rewrite(other.first_output + (i < own ? i : i + further)));
  }
  return rewrite.finish();
}

}  // namespace

Pass merge_loops_pass() {
  return {.name = "merge_loops", .purpose = "a loop with more results serves one with fewer", .run = merge_loops};
}

}  // namespace retrace
