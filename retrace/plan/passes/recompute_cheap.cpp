#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/tile_program.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

constexpr size_t kMostOps = 4;         // that are computed again
constexpr int64_t kSmallest = 16'384;  // elements: smaller values stay in the cache

// Values that can be had again from one large value that is kept anyway, such as a normalised activation from the
// convolution's result. Reading that one instead saves writing this one, and its memory until the backward pass.
class CheapValues {
 public:
  explicit CheapValues(const Trace& trace) : trace_(trace), kept_(trace.values.size()), level_(trace.nodes.size()) {
    for (ValueId id : trace.outputs) kept_[static_cast<size_t>(id)] = true;
    for (size_t n = 0; n < trace.nodes.size(); ++n)
      for (ValueId id : trace.nodes[n].inputs) {
        if (!can_tile(trace, trace.nodes[n])) kept_[static_cast<size_t>(id)] = true;
        const int32_t p = trace.producers[static_cast<size_t>(id)];
        if (p >= 0) level_[n] = std::max(level_[n], level_[static_cast<size_t>(p)] + (fuses(p, n) ? 0 : 1));
      }
  }

  // The nodes, ascending, that make `id` again for node `reader`; none if it is read where it was made or is not cheap.
  std::vector<size_t> again(ValueId id, size_t reader) const {
    const int32_t p = trace_.producers[static_cast<size_t>(id)];
    if (p < 0 || !can_tile(trace_, trace_.nodes[reader]) || level_[static_cast<size_t>(p)] == level_[reader]) return {};
    if (kept_[static_cast<size_t>(id)] || spec(id).count() < kSmallest || !(shape_made(reader) == spec(id).shape))
      return {};
    std::vector<size_t> nodes;
    std::vector<ValueId> large;
    if (!collect(id, nodes, large) || large.size() > 1) return {};
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

 private:
  const TensorSpec& spec(ValueId id) const { return trace_.values[static_cast<size_t>(id)]; }
  const Shape& shape_made(size_t n) const { return spec(trace_.nodes[n].first_output).shape; }
  bool fuses(int32_t p, size_t n) const {
    const size_t producer = static_cast<size_t>(p);
    return can_tile(trace_, trace_.nodes[producer]) && can_tile(trace_, trace_.nodes[n]) &&
           shape_made(producer) == shape_made(n);
  }

  // Adds the nodes behind `id`; false if they are too many or one is costly.
  bool collect(ValueId id, std::vector<size_t>& nodes, std::vector<ValueId>& large) const {
    const int32_t p = trace_.producers[static_cast<size_t>(id)];
    const bool computed =
        p >= 0 && !kept_[static_cast<size_t>(id)] && can_tile(trace_, trace_.nodes[static_cast<size_t>(p)]);
    if (!computed || spec(id).count() < kSmallest) {
      if (spec(id).count() >= kSmallest && std::find(large.begin(), large.end(), id) == large.end())
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
  std::vector<bool> kept_;  // read by another op than a pointwise one, or returned: in memory whatever planning does
  std::vector<int> level_;  // steps that are no pointwise neighbours before this one, at most
};

}  // namespace

Trace recompute_cheap(const Trace& trace) {
  const CheapValues cheap(trace);
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

}  // namespace retrace
