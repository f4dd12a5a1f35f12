// Where the bytes of each value of a plan on a CUDA device are.

#include <fmt/format.h>

#include <algorithm>

#include "retrace/plan/arena.h"
#include "retrace/plan/launch_order.h"
#include "retrace/plan/plan.h"

namespace retrace {
namespace {

size_t index(ValueId id) { return static_cast<size_t>(id); }

}  // namespace

class CudaPlan::Layout {
 public:
  explicit Layout(CudaPlan& plan)
      : plan_(plan),
        trace_(plan.trace_),
        root_(find_roots(trace_)),
        launch_(number_launches(trace_, root_, [&](const Node& node) { return is_chain(trace_, node); })),
        locations_(trace_.values.size()) {
    place_inputs_and_constants();
    place_outputs();
    place_arena();
  }

  void add_steps() {
    for (size_t n = 0; n < trace_.nodes.size(); ++n) {
      const Node& node = trace_.nodes[n];
      if (!runs(node)) continue;
      Step step{&node, launch_[n], {}, {}, {}, {}, workspaces_[n]};
      for (ValueId id : node.inputs) {
        step.inputs.push_back(locations_[root_of(id)]);
        step.input_specs.push_back(&trace_.values[index(id)]);
      }
      for (int i = 0; i < node.output_count; ++i) {
        step.outputs.push_back(locations_[index(node.first_output + i)]);
        step.output_specs.push_back(&trace_.values[index(node.first_output + i)]);
      }
      plan_.steps_.push_back(std::move(step));
    }
  }

 private:
  size_t root_of(ValueId id) const { return index(root_[index(id)]); }

  void place_inputs_and_constants() {
    std::vector<bool> read(trace_.values.size());
    for (ValueId id : trace_.outputs) read[root_of(id)] = true;
    for (const Node& node : trace_.nodes)
      for (ValueId id : node.inputs) read[root_of(id)] = true;
    for (size_t i = 0; i < trace_.inputs.size(); ++i) {
      if (!read[index(trace_.inputs[i])]) continue;
      Location& location = locations_[index(trace_.inputs[i])];
      location = {Location::Kind::input, i};
      if (trace_.values[index(trace_.inputs[i])].device > 0) continue;
      if (const TensorSpec& spec = trace_.values[index(trace_.inputs[i])]; spec.bytes() > kSlot)
        throw Error(ErrorKind::usage, 204, "one function computes on two devices")
            .got(fmt::format("an argument {} beside others on a CUDA device", spec.text()))
            .help("x.to(device) brings a tensor or a tree to a device; numbers go along by themselves");
      location = {Location::Kind::host, plan_.host_values_.size()};
      plan_.host_values_.resize(plan_.host_values_.size() + kSlot);
      plan_.host_inputs_.push_back(i);
    }
    for (const Node& node : trace_.nodes) {
      if (node.op->inputs != 0) continue;
      const TensorSpec& spec = trace_.values[index(node.first_output)];
      ensure(spec.bytes() <= kSlot, "a constant is one number");
      locations_[index(node.first_output)] = {Location::Kind::constant, plan_.constants_.size()};
      plan_.constants_.resize(plan_.constants_.size() + kSlot);
      const KernelOutput output{plan_.constants_.data() + plan_.constants_.size() - kSlot, &spec};
      node.op->kernel({node.attributes, {}, std::span(&output, 1)});
    }
  }

  void place_outputs() {
    for (size_t k = 0; k < trace_.outputs.size(); ++k) {
      Location& location = locations_[root_of(trace_.outputs[k])];
      if (location.kind == Location::Kind::none)
        location = {Location::Kind::output, k};
      else
        plan_.copies_.push_back({location, k, trace_.values[index(trace_.outputs[k])].bytes()});
    }
  }

  void place_arena() {
    std::vector<size_t> last(trace_.values.size());
    for (size_t n = 0; n < trace_.nodes.size(); ++n)
      if (runs(trace_.nodes[n]))
        for (ValueId id : trace_.nodes[n].inputs) last[root_of(id)] = launch_[n];
    std::vector<ArenaBlock> blocks;
    std::vector<Location*> booked;
    workspaces_.resize(trace_.nodes.size());
    const auto book = [&](Location& location, size_t bytes, size_t from, size_t to) {
      location.kind = Location::Kind::arena;
      blocks.push_back({bytes, from, std::max(from, to)});
      booked.push_back(&location);
    };
    for (size_t n = 0; n < trace_.nodes.size(); ++n) {
      const Node& node = trace_.nodes[n];
      if (!runs(node)) continue;
      for (int i = 0; i < node.output_count; ++i)
        if (Location& location = locations_[index(node.first_output + i)];
            location.kind == Location::Kind::none && !CudaExchanges::keeps_result(node))
          book(location, trace_.values[index(node.first_output + i)].bytes(), launch_[n],
               last[index(node.first_output + i)]);
      if (const int64_t bytes = workspace_bytes(node); bytes > 0)
        book(workspaces_[n], static_cast<size_t>(bytes), launch_[n], launch_[n]);
    }
    plan_.arena_bytes_ = place_blocks(blocks, pass_is_on("place_memory"));
    for (size_t i = 0; i < blocks.size(); ++i) booked[i]->at = blocks[i].offset;
  }

  int64_t workspace_bytes(const Node& node) const {
    if (!node.op->cuda_workspace) return 0;
    std::vector<TensorSpec> specs;
    for (ValueId id : node.inputs) specs.push_back(trace_.values[index(id)]);
    return node.op->cuda_workspace({*node.op, node.attributes, specs, node.place});
  }

  CudaPlan& plan_;
  const Trace& trace_;
  std::vector<ValueId> root_;   // per value: the value whose bytes it has
  std::vector<size_t> launch_;  // per node: when it runs
  std::vector<Location> locations_, workspaces_;
};

void CudaPlan::lay_out() { Layout(*this).add_steps(); }

}  // namespace retrace
