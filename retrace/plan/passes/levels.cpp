#include "retrace/plan/passes/levels.h"

#include <algorithm>

#include "retrace/plan/cuda/cuda_chain.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/op.h"

namespace retrace {

Levels::Levels(const Trace& trace, int64_t large)
    : trace_(trace),
      cuda_(device_of(trace) > 0),
      large_(large),
      kept_(trace),
      earliest_(trace.nodes.size()),
      latest_(trace.nodes.size(), -1) {
  for (ValueId id : trace.outputs) kept_[id] = true;
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    for (ValueId id : trace.nodes[n].inputs) {
      const size_t p = trace.producer_index(id);
      const bool near = p != kNoNode && neighbours(p, n);
      if (!near) kept_[id] = true;
      if (p != kNoNode) earliest_[n] = std::max(earliest_[n], earliest_[p] + (between(p, n) ? 1 : 0));
    }
  for (size_t n = trace.nodes.size(); n-- > 0;) {
    if (latest_[n] < 0) latest_[n] = earliest_[n];  // nobody reads it, or only as an output
    for (ValueId id : trace.nodes[n].inputs) {
      const size_t p = trace.producer_index(id);
      if (p == kNoNode) continue;
      const size_t producer = p;
      const int bound = kept(id) ? earliest_[producer] : latest_[n];
      latest_[producer] = latest_[producer] < 0 ? bound : std::min(latest_[producer], bound);
    }
  }
}

bool Levels::pointwise(const Node& node) const { return cuda_ ? joins_chains(trace_, node) : can_tile(trace_, node); }

// Whether one of two nodes is a kernel of its own that reads or writes a large value.
bool Levels::between(size_t producer, size_t reader) const {
  const auto large = [&](ValueId id) { return trace_.spec(id).count() >= large_; };
  const auto step = [&](const Node& node) {
    return !pointwise(node) && !node.op->view &&
           (large(node.first_output) || std::any_of(node.inputs.begin(), node.inputs.end(), large));
  };
  return step(trace_.nodes[producer]) || step(trace_.nodes[reader]);
}

std::string_view Levels::strangers(size_t producer, size_t reader) const {
  const Node &a = trace_.nodes[producer], &b = trace_.nodes[reader];
  if (a.op->view) return "a view lies between";
  if (!pointwise(a)) return "what makes it is not pointwise";
  if (!pointwise(b)) return "what reads it is not pointwise";
  const bool one_shape = trace_.spec(a.first_output).shape == trace_.spec(b.first_output).shape;
  return one_shape ? "" : "the shapes differ";
}

}  // namespace retrace
