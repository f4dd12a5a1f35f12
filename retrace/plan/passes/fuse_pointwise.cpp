#include "retrace/plan/pass.h"
#include "retrace/plan/passes/groups.h"
#include "retrace/plan/passes/levels.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/programs/tile_program.h"

namespace retrace {
namespace {

// Neighbours join. A node that can wait for its reader does not join what is in memory anyway: it would be computed
// early and kept.
Groups find_groups(Trace& trace) {
  Groups groups(trace);
  const Levels levels(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    for (size_t i = 0; i < trace.nodes[n].inputs.size(); ++i) {
      const auto& apart = trace.nodes[n].apart;
      if (!apart.empty() && !apart[i].empty()) continue;  // by a pass that knows more of this reader
      const ValueId id = trace.nodes[n].inputs[i];
      const int32_t p = trace.producers[static_cast<size_t>(id)];
      if (p < 0) continue;
      auto why = levels.strangers(static_cast<size_t>(p), n);
      if (why.empty() && levels.kept(id) && levels.latest(n) > levels.earliest(n))
        why = "it is in memory anyway, and the reader can wait";
      if (why.empty()) why = groups.merge(groups.of(static_cast<size_t>(p)), groups.of(n));
      if (!why.empty()) say_apart(trace, n, id, why);
    }
  return groups;
}

// Per value: whether it is needed outside of its group.
std::vector<bool> find_read_outside(const Trace& trace, const Groups& groups) {
  std::vector<bool> read(trace.values.size());
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    for (ValueId id : trace.nodes[n].inputs) {
      const int32_t p = trace.producers[static_cast<size_t>(id)];
      if (p >= 0 && groups.of(static_cast<size_t>(p)) != groups.of(n)) read[static_cast<size_t>(id)] = true;
    }
  for (ValueId id : trace.outputs) read[static_cast<size_t>(id)] = true;
  return read;
}

void emit(Rewriter& rewrite, const std::vector<size_t>& members, const std::vector<bool>& read_outside) {
  const Trace& trace = rewrite.from();
  if (members.size() == 1) return rewrite.copy(trace.nodes[members[0]]);
  std::vector<ValueId> outputs;
  for (size_t n : members)
    if (const ValueId id = trace.nodes[n].first_output; read_outside[static_cast<size_t>(id)]) outputs.push_back(id);
  if (outputs.empty()) return;
  auto extracted = extract(trace, members, outputs);
  Node node;
  node.op = &fused_op();
  node.place = trace.nodes[members.back()].place;
  for (ValueId id : extracted.inputs) node.inputs.push_back(rewrite(id));
  node.apart = std::move(extracted.apart);
  std::vector<TensorSpec> specs;
  for (ValueId id : outputs) specs.push_back(trace.values[static_cast<size_t>(id)]);
  node.body = make_body(Body::Role::whole, std::move(extracted.body));
  const ValueId made = rewrite.to().add_node(std::move(node), specs);
  for (size_t i = 0; i < outputs.size(); ++i) rewrite.replace(outputs[i], made + static_cast<ValueId>(i));
}

}  // namespace

Trace fuse_pointwise(Trace trace) {
  const Groups groups = find_groups(trace);
  const auto read_outside = find_read_outside(trace, groups);
  Rewriter rewrite(trace);
  for (size_t group : groups.in_order()) emit(rewrite, groups.members(group), read_outside);
  return rewrite.finish();
}

}  // namespace retrace
