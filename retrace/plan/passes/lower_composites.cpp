#include <fmt/format.h>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

// Composites may be defined by composites: one round lowers one level.
Trace lower_once(const Trace& trace) {
  RecordingScope scope;
  auto& recording = scope.recording();
  std::vector<Tensor> made(trace.values.size());
  for (ValueId id : trace.inputs)
    made[static_cast<size_t>(id)] = recording.add_input(trace.values[static_cast<size_t>(id)]);
  for (const auto& node : trace.nodes) {
    std::vector<Tensor> inputs;
    for (ValueId id : node.inputs) inputs.push_back(made[static_cast<size_t>(id)]);
    const auto outputs = node.op->lower ? node.op->lower({node.attributes, inputs, node.place})
                                        : recording.add(*node.op, node.attributes, inputs, node.place);
    if (recording.trace().inputs.size() != trace.inputs.size())
      throw Error(ErrorKind::usage, 208, fmt::format("the definition of {} makes a tensor from numbers", node.op->name))
          .where(node.place)
          .got("a float, Tensor::full, Tensor::from or Recording::add_input in its `lower`")
          .help("write numbers there as constant(value, type) or constant_like(x, value)");
    ensure(static_cast<int>(outputs.size()) == node.output_count, "a definition has the outputs of its op", node.place);
    for (int i = 0; i < node.output_count; ++i) {
      const auto& spec = trace.values[static_cast<size_t>(node.first_output + i)];
      ensure(
          outputs[static_cast<size_t>(i)].shape() == spec.shape && outputs[static_cast<size_t>(i)].type() == spec.type,
          "a definition has the shape of its op", node.place);
      made[static_cast<size_t>(node.first_output + i)] = outputs[static_cast<size_t>(i)];
    }
  }
  std::vector<Tensor> outputs;
  for (ValueId id : trace.outputs) outputs.push_back(made[static_cast<size_t>(id)]);
  std::vector<ValueId> map;
  for (const auto& tensor : made) map.push_back(tensor.value()->id);
  Trace lowered = recording.take_trace(outputs);
  carry_names(trace, map, lowered);
  return lowered;
}

bool has_composite(const Trace& trace) {
  for (const auto& node : trace.nodes)
    if (node.op->lower) return true;
  return false;
}

}  // namespace

Trace lower_composites(Trace trace) {
  while (has_composite(trace)) trace = lower_once(trace);
  return trace;
}

}  // namespace retrace
