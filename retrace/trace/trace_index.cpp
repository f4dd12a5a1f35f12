#include "retrace/trace/trace_index.h"

#include "retrace/trace/op.h"

namespace retrace {

ValueMap<ValueId> find_roots(const Trace& trace) {
  ValueMap<ValueId> roots(trace);
  for (ValueId id{0}; id < static_cast<ValueId>(trace.values.size()); ++id) roots[id] = id;
  for (const Node& node : trace.nodes)
    if (node.op->view) roots[node.first_output] = roots[node.inputs[0]];
  return roots;
}

TraceIndex::TraceIndex(const Trace& trace)
    : uses_(trace), is_output_(trace), roots_(find_roots(trace)), readers_(trace) {
  size_t edges = 0;
  for (const Node& node : trace.nodes) {
    edges += node.inputs.size();
    for (ValueId id : node.inputs) ++uses_[id];
  }
  // Room for as many readers as uses; a node that reads a value twice takes it once.
  size_t next = 0;
  for (ValueId id{0}; id < static_cast<ValueId>(trace.values.size()); ++id) {
    readers_[id] = {next, next};
    next += static_cast<size_t>(uses_[id]);
  }
  all_readers_.resize(edges);
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    for (ValueId id : trace.nodes[n].inputs) {
      auto& [first, end] = readers_[id];
      if (end == first || all_readers_[end - 1] != n) all_readers_[end++] = n;
    }
  for (ValueId id : trace.outputs) {
    ++uses_[id];
    is_output_[id] = true;
  }
}

}  // namespace retrace
