#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/levels.h"
#include "retrace/plan/passes/recompute_within.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

// Values that can be had again from one large value that is kept anyway, such as a normalised activation from the
// convolution's result. Reading that one instead saves writing this one, and its memory until the backward pass.
class CheapValues {
 public:
  CheapValues(const Trace& trace, const Tuning& tuning)
      : trace_(trace), tuning_(tuning), levels_(trace, tuning.large_elements) {}

  // The nodes, ascending, that make `id` again for node `reader`; none if it is read where it was made or is not cheap.
  std::vector<size_t> again(ValueId id, size_t reader) const {
    const size_t p = trace_.producer_index(id);
    if (p == kNoNode || levels_.kept(id) || spec(id).count() < tuning_.large_elements) return {};
    if (levels_.earliest(p) == levels_.earliest(reader)) return {};
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
  const TensorSpec& spec(ValueId id) const { return trace_.spec(id); }

  // Adds the nodes behind `id`; false if they are too many or one is costly.
  bool collect(ValueId id, std::vector<size_t>& nodes, std::vector<ValueId>& large) const {
    const size_t p = trace_.producer_index(id);
    const bool computed = p != kNoNode && !levels_.kept(id);
    if (!computed || spec(id).count() < tuning_.large_elements) {
      if (spec(id).count() >= tuning_.large_elements && std::find(large.begin(), large.end(), id) == large.end())
        large.push_back(id);
      return true;
    }
    const size_t n = p;
    if (std::find(nodes.begin(), nodes.end(), n) != nodes.end()) return true;
    nodes.push_back(n);
    const Node& node = trace_.nodes[n];
    return nodes.size() <= tuning_.recomputed_ops && !node.op->costly &&
           std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId in) { return collect(in, nodes, large); });
  }

  const Trace& trace_;
  const Tuning& tuning_;
  const Levels levels_;
};

Trace recompute_read_late(Trace trace, const PlanOptions& options) {
  const CheapValues cheap(trace, options.tuning);
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
  return without_dead(rewrite.finish());
}

Trace recompute_cheap(Trace trace, const PlanOptions& options) {
  trace = recompute_read_late(std::move(trace), options);
  return options.memory_share < 1 ? recompute_within(std::move(trace), options) : trace;
}

}  // namespace

Pass recompute_cheap_pass() {
  return {.name = "recompute_cheap",
          .purpose = "a cheap value is computed again where it is read late",
          .run = recompute_cheap};
}

}  // namespace retrace
