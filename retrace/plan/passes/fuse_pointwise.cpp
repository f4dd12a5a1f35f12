#include "retrace/plan/pass.h"
#include "retrace/plan/passes/groups.h"
#include "retrace/plan/passes/levels.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// Neighbours join. A node that can wait for its reader does not join what is in memory anyway: it would be computed
// early and kept.
Groups find_groups(Trace& trace, const Tuning& tuning) {
  Groups groups(trace, tuning.chain_ops);
  const Levels levels(trace, tuning.large_elements);
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    for (size_t i = 0; i < trace.nodes[n].inputs.size(); ++i) {
      const auto& apart = trace.nodes[n].apart;
      if (!apart.empty() && !apart[i].empty()) continue;  // by a pass that knows more of this reader
      const ValueId id = trace.nodes[n].inputs[i];
      const size_t p = trace.producer_index(id);
      if (p == kNoNode) continue;
      auto why = levels.strangers(p, n);
      if (why.empty() && levels.kept(id) && levels.latest(n) > levels.earliest(n))
        why = "it is in memory anyway, and the reader can wait";
      if (why.empty()) why = groups.merge(groups.of(p), groups.of(n));
      if (!why.empty()) say_apart(trace, n, id, why);
    }
  return groups;
}

// Whether a value is needed outside of its group.
ValueMap<bool> find_read_outside(const Trace& trace, const Groups& groups) {
  ValueMap<bool> read(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    for (ValueId id : trace.nodes[n].inputs) {
      const size_t p = trace.producer_index(id);
      if (p != kNoNode && groups.of(p) != groups.of(n)) read[id] = true;
    }
  for (ValueId id : trace.outputs) read[id] = true;
  return read;
}

void emit(Rewriter& rewrite, const std::vector<size_t>& members, const ValueMap<bool>& read_outside) {
  const Trace& trace = rewrite.from();
  if (members.size() == 1) return rewrite.copy(trace.nodes[members[0]]);
  std::vector<ValueId> outputs;
  for (size_t n : members)
    if (const ValueId id = trace.nodes[n].first_output; read_outside[id]) outputs.push_back(id);
  if (outputs.empty()) return;
  Node node;
  node.op = &fused_op();
  add_whole(rewrite, std::move(node), extract(trace, members, outputs), members, outputs);
}

Trace fuse_pointwise(Trace trace, const PlanOptions& options) {
  const Groups groups = find_groups(trace, options.tuning);
  const auto read_outside = find_read_outside(trace, groups);
  Rewriter rewrite(trace);
  for (size_t group : groups.in_order()) emit(rewrite, groups.members(group), read_outside);
  return rewrite.finish();
}

}  // namespace

Pass fuse_pointwise_pass() {
  return {.name = "fuse_pointwise",
          .purpose = "pointwise neighbours become one kernel",
          .run = fuse_pointwise,
          .cuda = true};
}

}  // namespace retrace
