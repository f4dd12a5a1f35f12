// Where the bytes of each value of a plan on a CUDA device are.

#include <set>

#include "retrace/plan/cuda/cuda_epilogue.h"
#include "retrace/plan/cuda/cuda_plan.h"
#include "retrace/plan/cuda/generated_kernel.h"
#include "retrace/plan/cuda/launch_edges.h"
#include "retrace/plan/layout/donation.h"

namespace retrace {
namespace {

size_t workspace_bytes(const Trace& trace, const Node& node, Mode mode) {
  if (const GeneratedKernel* const generated = generated_kernel(node))
    return static_cast<size_t>(generated->workspace(node.body->trace));
  if (has_epilogue(node)) return static_cast<size_t>(tile_sum_workspace(trace, node, mode));
  if (!node.op->cuda_workspace) return 0;
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < node.own_inputs(); ++i) specs.push_back(trace.spec(node.inputs[i]));
  return static_cast<size_t>(node.op->cuda_workspace({*node.op, node.attributes, specs, node.place}));
}

}  // namespace

void CudaPlan::lay_out(bool reuse) {
  Placement placement(trace_, {.joins = [&](const Node& node) { return is_chain(trace_, node); },
                               .keeps_results = [](const Node& node) { return node.op->stays_on_host; },
                               .rest = tuning::kCudaRest});
  auto placed = placement.nodes();
  steps_.reserve(placed.size());  // what is booked must not move
  for (PlacedNode& each : placed) {
    Step& step = steps_.emplace_back(std::move(each));
    step.workspace_bytes = workspace_bytes(trace_, *step.node, mode_);
    if (step.workspace_bytes > 0) placement.book(step.workspace, step.workspace_bytes, step.launch);
  }
  arena_bytes_ = placement.finish(reuse);
  for (Step& step : steps_) placement.complete(step);
  copies_ = std::move(placement.copies);
  constants_ = std::move(placement.constants);
  host_inputs_ = std::move(placement.host_inputs);
  host_values_.resize(host_inputs_.size() * Placement::kSlot);
}

// What every node may use: the inputs that it reads, its outputs and its workspace. An output that may lie in an
// input's memory is that input. Launches that report errors keep their order, in which the first is told. Constants,
// values of the host and counters are in nobody's way.
cuda::Edges CudaPlan::find_edges() const {
  enum : size_t { kArena, kErrors, kInputs };
  const auto range = [&](const Location& location, size_t bytes) -> MemoryRange {
    if (location.kind == Location::Kind::arena) return {kArena, location.at, location.at + bytes};
    if (location.kind == Location::Kind::input) return {kInputs + location.at, 0, bytes};
    if (location.kind != Location::Kind::output) return {};
    const int donor = donors_.empty() ? -1 : donors_[location.at];
    return {kInputs + (donor < 0 ? trace_.inputs.size() + location.at : static_cast<size_t>(donor)), 0, bytes};
  };
  LaunchEdges edges;
  for (const Call& call : calls_) {
    std::vector<MemoryRange> reads, writes;
    for (const Step* step : call.steps) {
      const int read = step->node->op->reads;
      for (size_t i = 0; i < step->inputs.size() && (read < 0 || i < static_cast<size_t>(read)); ++i)
        reads.push_back(range(step->inputs[i], step->input_specs[i]->bytes()));
      for (size_t i = 0; i < step->outputs.size(); ++i)
        writes.push_back(range(step->outputs[i], step->output_specs[i]->bytes()));
      if (step->workspace_bytes > 0) writes.push_back(range(step->workspace, step->workspace_bytes));
      if (step->errors) writes.push_back({kErrors, 0, 1});
    }
    if (call.steps[0]->node->op->on_host)
      edges.cut();
    else
      edges.add(call.launches, reads, writes);
  }
  return edges.edges();
}

std::vector<int> CudaPlan::find_donors() const {
  std::vector<const PlacedNode*> nodes;
  for (const Step& step : steps_) nodes.push_back(&step);
  return retrace::find_donors(trace_, nodes, copies_, [&](size_t s, size_t k, FunctionRef<bool(size_t)> free) {
    return own_donor(steps_[s], k, free);
  });
}

// A thread reads all arguments of its element before it writes a result. State keeps its place: of the outputs that are
// left, the first takes the first input that is left, the second the second, in the order of the trace.
int CudaPlan::own_donor(const Step& step, size_t output, FunctionRef<bool(size_t input)> free) const {
  if (!is_chain(trace_, *step.node)) return -1;
  const auto bytes = [](const std::vector<const TensorSpec*>& specs, size_t i) { return specs[i]->bytes(); };
  size_t before = 0;
  for (size_t k = output + 1; k < step.outputs.size(); ++k)
    before += step.outputs[k].kind == Location::Kind::output && step.outputs[k].at < step.outputs[output].at &&
              bytes(step.output_specs, k) == bytes(step.output_specs, output);
  std::set<size_t> left;
  for (size_t i = 0; i < step.inputs.size(); ++i)
    if (step.inputs[i].kind == Location::Kind::input && step.input_specs[i]->count() == step.count() &&
        bytes(step.input_specs, i) == bytes(step.output_specs, output) && free(step.inputs[i].at))
      left.insert(step.inputs[i].at);
  return before < left.size() ? static_cast<int>(*std::next(left.begin(), static_cast<std::ptrdiff_t>(before))) : -1;
}

}  // namespace retrace
