#include "retrace/plan/layout/placement.h"

#include <fmt/format.h>

#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/plan/layout/launch_order.h"
#include "retrace/trace/op.h"

namespace retrace {

Placement::Placement(const Trace& trace, const Device& device)
    : trace_(trace),
      rest_(device.rest),
      roots_(find_roots(trace)),
      launches_(number_launches(trace, roots_, device.joins)),
      locations_(trace) {
  place_inputs();
  place_constants();
  place_outputs();
  place_arena(device.keeps_results);
}

// An input that nobody reads has no place.
void Placement::place_inputs() {
  ValueMap<bool> read(trace_);
  for (ValueId id : trace_.outputs) read[roots_[id]] = true;
  for (const Node& node : trace_.nodes)
    for (ValueId id : node.inputs) read[roots_[id]] = true;
  const DeviceId device = device_of(trace_);
  for (size_t i = 0; i < trace_.inputs.size(); ++i) {
    const ValueId id = trace_.inputs[i];
    if (!read[roots_[id]]) continue;
    Location& location = locations_[roots_[id]];
    location = {Location::Kind::input, i};
    if (spec(id).device == device) continue;
    if (spec(id).bytes() > kSlot)
      throw Error(ErrorKind::usage, 204, "one function computes on two devices")
          .got(fmt::format("an argument {} beside others on a CUDA device", spec(id).text()))
          .help("x.to(device) brings a tensor or a tree to a device; numbers go along by themselves");
    location = {Location::Kind::host, host_inputs.size() * kSlot};
    host_inputs.push_back(i);
  }
}

void Placement::place_constants() {
  const FloatingPointScope floating_point;
  for (const Node& node : trace_.nodes) {
    if (node.op->inputs != 0) continue;
    const size_t at = constants.size();
    locations_[roots_[node.first_output]] = {Location::Kind::constant, at};
    ensure(spec(node.first_output).bytes() <= kSlot, "a constant is one number");
    constants.resize(at + kSlot);
    const KernelOutput output{constants.data() + at, &spec(node.first_output)};
    node.op->kernel({node.attributes, {}, std::span(&output, 1)});
  }
}

void Placement::place_outputs() {
  for (size_t k = 0; k < trace_.outputs.size(); ++k) {
    Location& location = locations_[roots_[trace_.outputs[k]]];
    if (location.kind == Location::Kind::none)
      location = {Location::Kind::output, k};
    else
      copies.push_back({location, k, spec(trace_.outputs[k]).bytes()});
  }
}

// A value lives from the launch that makes it to the last that reads it.
void Placement::place_arena(FunctionRef<bool(const Node& node)> keeps_results) {
  ValueMap<size_t> last(trace_);
  for (size_t n = 0; n < trace_.nodes.size(); ++n)
    if (runs(trace_.nodes[n]))
      for (ValueId id : trace_.nodes[n].inputs) last[roots_[id]] = launches_[n];
  for (size_t n = 0; n < trace_.nodes.size(); ++n) {
    const Node& node = trace_.nodes[n];
    if (!runs(node) || keeps_results(node)) continue;
    for (ValueId id = node.first_output; id < node.first_output + node.output_count; ++id)
      if (Location& location = locations_[roots_[id]]; location.kind == Location::Kind::none)
        book(location, spec(id).bytes(), launches_[n], std::max(launches_[n], last[roots_[id]]) + rest_);
  }
}

void Placement::book(Location& location, size_t bytes, size_t first, size_t last) {
  location.kind = Location::Kind::arena;
  blocks_.push_back({bytes, first, last});
  booked_.push_back(&location);
}

size_t Placement::finish(bool reuse) {
  const size_t bytes = place_blocks(blocks_, reuse);
  for (size_t i = 0; i < blocks_.size(); ++i) booked_[i]->at = blocks_[i].offset;
  return bytes;
}

std::vector<PlacedNode> Placement::nodes() const {
  std::vector<PlacedNode> placed;
  for (size_t n = 0; n < trace_.nodes.size(); ++n) {
    const Node& node = trace_.nodes[n];
    if (!runs(node)) continue;
    PlacedNode& one = placed.emplace_back(PlacedNode{&node, launches_[n], {}, {}, {}, {}});
    for (ValueId id : node.inputs) one.input_specs.push_back(&spec(id));
    for (int i = 0; i < node.output_count; ++i) one.output_specs.push_back(&spec(node.first_output + i));
    complete(one);
  }
  return placed;
}

void Placement::complete(PlacedNode& placed) const {
  const Node& node = *placed.node;
  placed.inputs.clear();
  placed.outputs.clear();
  for (ValueId id : node.inputs) placed.inputs.push_back(locations_[roots_[id]]);
  for (int i = 0; i < node.output_count; ++i) placed.outputs.push_back(locations_[roots_[node.first_output + i]]);
}

}  // namespace retrace
