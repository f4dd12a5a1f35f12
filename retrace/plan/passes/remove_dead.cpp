#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/trace/op.h"

namespace retrace {

// All inputs stay: their order is the plan's interface.
Trace remove_dead(Trace trace) {
  std::vector<bool> needed(trace.values.size());
  for (ValueId id : trace.outputs) needed[static_cast<size_t>(id)] = true;
  std::vector<bool> kept(trace.nodes.size());
  for (size_t n = trace.nodes.size(); n-- > 0;) {
    const Node& node = trace.nodes[n];
    kept[n] = node.op->collective;
    for (int i = 0; i < node.output_count; ++i) kept[n] = kept[n] || needed[static_cast<size_t>(node.first_output + i)];
    if (kept[n])
      for (ValueId id : node.inputs) needed[static_cast<size_t>(id)] = true;
  }
  if (std::find(kept.begin(), kept.end(), false) == kept.end()) return trace;
  Rewriter rewrite(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (kept[n]) rewrite.copy(trace.nodes[n]);
  return rewrite.finish();
}

}  // namespace retrace
