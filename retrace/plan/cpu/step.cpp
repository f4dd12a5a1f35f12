#include "retrace/plan/cpu/step.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/error.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

void call_kernel(const Node& node, const KernelCall& call) try {
  if (node.op->kernel)
    node.op->kernel(call);
  else
    run_pointwise(*node.op, call);
} catch (Error& error) {
  if (!error.has_place()) error.where(node.place);
  throw;
}

size_t workspace_bytes(const Node& node, std::span<const TensorSpec> inputs) {
  const auto bytes = node.op->workspace;
  return bytes ? static_cast<size_t>(bytes({*node.op, node.attributes, inputs, node.place})) : 0;
}

void StepSite::book_kept(Location& location, const PlacedNode& step) {
  const Node& node = *step.node;
  if (!node.op->kept || step.inputs.size() < 2) return;
  const Location& factor = step.inputs[1];
  if (factor.kind != Location::Kind::input || factor.at >= kept_.steady.size() || !kept_.steady[factor.at]) return;
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < node.own_inputs(); ++i) specs.push_back(*step.input_specs[i]);
  const auto bytes = static_cast<size_t>(node.op->kept({*node.op, node.attributes, specs, node.place}));
  if (bytes == 0) return;
  location = {Location::Kind::kept, kept_.bytes};
  kept_.bytes += (bytes + 63) / 64 * 64;
}

const StepKinds& step_kinds() {
  static const StepKinds kinds = [] {
    StepKinds all;
    define_all_steps(all);
    return all;
  }();
  return kinds;
}

const StepKind& kind_of(const Trace& trace, const Node& node) {
  const auto& all = step_kinds().all();
  const auto at = std::find_if(all.begin(), all.end(), [&](const StepKind& kind) { return kind.takes(trace, node); });
  if (at == all.end())
    throw Error(ErrorKind::internal, 904, fmt::format("no kind of step computes {}", node.op->name)).where(node.place);
  return *at;
}

}  // namespace retrace
