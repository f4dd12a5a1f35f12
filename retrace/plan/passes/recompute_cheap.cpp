#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/levels.h"
#include "retrace/plan/passes/memory_share.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

constexpr size_t kMostOps = 4;  // that are computed again

// Values that can be had again from one large value that is kept anyway, such as a normalised activation from the
// convolution's result. Reading that one instead saves writing this one, and its memory until the backward pass.
class CheapValues {
 public:
  explicit CheapValues(const Trace& trace) : trace_(trace), levels_(trace) {}

  // The nodes, ascending, that make `id` again for node `reader`; none if it is read where it was made or is not cheap.
  std::vector<size_t> again(ValueId id, size_t reader) const {
    const int32_t p = trace_.producers[static_cast<size_t>(id)];
    if (p < 0 || levels_.kept(id) || spec(id).count() < kLargeValue) return {};
    if (levels_.earliest(static_cast<size_t>(p)) == levels_.earliest(reader)) return {};
    std::vector<size_t> nodes;
    std::vector<ValueId> large;
    if (!collect(id, nodes, large) || large.size() > 1) return {};
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  // Whether a node has such values.
  bool any() const {
    for (size_t n = 0; n < trace_.nodes.size(); ++n)
      for (ValueId id : trace_.nodes[n].inputs)
        if (!again(id, n).empty()) return true;
    return false;
  }

 private:
  const TensorSpec& spec(ValueId id) const { return trace_.values[static_cast<size_t>(id)]; }

  // Adds the nodes behind `id`; false if they are too many or one is costly.
  bool collect(ValueId id, std::vector<size_t>& nodes, std::vector<ValueId>& large) const {
    const int32_t p = trace_.producers[static_cast<size_t>(id)];
    const bool computed = p >= 0 && !levels_.kept(id);
    if (!computed || spec(id).count() < kLargeValue) {
      if (spec(id).count() >= kLargeValue && std::find(large.begin(), large.end(), id) == large.end())
        large.push_back(id);
      return true;
    }
    const size_t n = static_cast<size_t>(p);
    if (std::find(nodes.begin(), nodes.end(), n) != nodes.end()) return true;
    nodes.push_back(n);
    const Node& node = trace_.nodes[n];
    return nodes.size() <= kMostOps && !node.op->costly &&
           std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId in) { return collect(in, nodes, large); });
  }

  const Trace& trace_;
  const Levels levels_;
};

Trace recompute_read_late(Trace trace) {
  const CheapValues cheap(trace);
  if (!cheap.any()) return trace;
  Rewriter rewrite(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    const Node& node = trace.nodes[n];
    std::vector<std::pair<ValueId, ValueId>> before;  // what the values are called again after this node
    for (ValueId id : node.inputs) {
      const auto nodes = cheap.again(id, n);
      if (nodes.empty()) continue;
      for (size_t m : nodes) before.emplace_back(trace.nodes[m].first_output, rewrite(trace.nodes[m].first_output));
      for (size_t m : nodes) rewrite.copy(trace.nodes[m]);
    }
    rewrite.copy(node);
    for (auto at = before.rbegin(); at != before.rend(); ++at) rewrite.replace(at->first, at->second);
  }
  return remove_dead(rewrite.finish());
}

}  // namespace

Trace recompute_cheap(Trace trace) {
  trace = recompute_read_late(std::move(trace));
  return MemoryShare::current() < 1 ? recompute_within(std::move(trace), MemoryShare::current()) : trace;
}

}  // namespace retrace
