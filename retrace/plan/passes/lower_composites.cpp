#include <fmt/format.h>

#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/trace/record.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// Plans of the CPU run loops as they are.
bool is_composite(const Node& node, bool keeps_loops) { return node.op->lower && !(keeps_loops && node.op->loop); }

// Composites may be defined by composites: one round lowers one level.
Trace lower_once(const Trace& trace, bool keeps_loops) {
  RecordingScope scope;
  auto& recording = scope.recording();
  ValueMap<Tensor> made(trace);
  for (ValueId id : trace.inputs) made[id] = recording.add_input(trace.spec(id));
  for (const auto& node : trace.nodes) {
    std::vector<Tensor> inputs;
    for (ValueId id : node.inputs) inputs.push_back(made[id]);
    const auto outputs = is_composite(node, keeps_loops) ? node.op->lower({node.attributes, inputs, node.place})
                                                         : recording.add(*node.op, node.attributes, inputs, node.place);
    if (recording.trace().inputs.size() != trace.inputs.size())
      throw Error(ErrorKind::usage, 208, fmt::format("the definition of {} makes a tensor from numbers", node.op->name))
          .where(node.place)
          .got("a float, Tensor::full, Tensor::from or Recording::add_input in its `lower`")
          .help("write numbers there as constant(value, type) or constant_like(x, value)");
    ensure(static_cast<int>(outputs.size()) == node.output_count, "a definition has the outputs of its op", node.place);
    for (int i = 0; i < node.output_count; ++i) {
      const auto& spec = trace.spec(node.first_output + i);
      ensure(
          outputs[static_cast<size_t>(i)].shape() == spec.shape && outputs[static_cast<size_t>(i)].type() == spec.type,
          "a definition has the shape of its op", node.place);
      made[node.first_output + i] = outputs[static_cast<size_t>(i)];
    }
  }
  std::vector<Tensor> outputs;
  for (ValueId id : trace.outputs) outputs.push_back(made[id]);
  std::vector<ValueId> map;
  for (size_t v = 0; v < trace.values.size(); ++v) map.push_back(ValueId{made[static_cast<ValueId>(v)].value()->id});
  Trace lowered = recording.take_trace(outputs);
  carry_names(trace, map, lowered);
  return lowered;
}

Trace lower_composites(Trace trace, const PlanOptions&) {
  const bool keeps_loops = device_of(trace) == 0;
  const auto is_one = [&](const Node& node) { return is_composite(node, keeps_loops); };
  while (std::any_of(trace.nodes.begin(), trace.nodes.end(), is_one)) trace = lower_once(trace, keeps_loops);
  return trace;
}

}  // namespace

Pass lower_composites_pass() {
  return {.name = "lower_composites",
          .purpose = "composites become the ops of their definition",
          .run = lower_composites,
          .required = true,
          .cuda = true};
}

}  // namespace retrace
