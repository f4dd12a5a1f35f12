#include "retrace/plan/passes/levels.h"

#include <algorithm>

#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/op.h"

namespace retrace {

Levels::Levels(const Trace& trace)
    : trace_(trace), kept_(trace.values.size()), earliest_(trace.nodes.size()), latest_(trace.nodes.size(), -1) {
  for (ValueId id : trace.outputs) kept_[static_cast<size_t>(id)] = true;
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    for (ValueId id : trace.nodes[n].inputs) {
      const int32_t p = trace.producers[static_cast<size_t>(id)];
      const bool near = p >= 0 && neighbours(static_cast<size_t>(p), n);
      if (!near) kept_[static_cast<size_t>(id)] = true;
      if (p >= 0) earliest_[n] = std::max(earliest_[n], earliest_[static_cast<size_t>(p)] + (between(p, n) ? 1 : 0));
    }
  for (size_t n = trace.nodes.size(); n-- > 0;) {
    if (latest_[n] < 0) latest_[n] = earliest_[n];  // nobody reads it, or only as an output
    for (ValueId id : trace.nodes[n].inputs) {
      const int32_t p = trace.producers[static_cast<size_t>(id)];
      if (p < 0) continue;
      const size_t producer = static_cast<size_t>(p);
      const int bound = kept(id) ? earliest_[producer] : latest_[n];
      latest_[producer] = latest_[producer] < 0 ? bound : std::min(latest_[producer], bound);
    }
  }
}

// Whether one of two nodes is a kernel of its own that reads or writes a large value.
bool Levels::between(int32_t producer, size_t reader) const {
  const auto large = [&](ValueId id) { return trace_.values[static_cast<size_t>(id)].count() >= kLargeValue; };
  const auto step = [&](const Node& node) {
    return !can_tile(trace_, node) && !node.op->view &&
           (large(node.first_output) || std::any_of(node.inputs.begin(), node.inputs.end(), large));
  };
  return step(trace_.nodes[static_cast<size_t>(producer)]) || step(trace_.nodes[reader]);
}

std::string_view Levels::strangers(size_t producer, size_t reader) const {
  const Node &a = trace_.nodes[producer], &b = trace_.nodes[reader];
  if (a.op->view) return "a view lies between";
  if (!can_tile(trace_, a)) return "what makes it is not pointwise";
  if (!can_tile(trace_, b)) return "what reads it is not pointwise";
  const bool one_shape = trace_.values[static_cast<size_t>(a.first_output)].shape ==
                         trace_.values[static_cast<size_t>(b.first_output)].shape;
  return one_shape ? "" : "the shapes differ";
}

}  // namespace retrace
