// How a recording becomes values: what somebody still holds is the trace's output; the trace is planned, or its plan
// found; the plan runs.

#include "retrace/distributed/pool.h"
#include "retrace/plan/memory_limit.h"
#include "retrace/run/plan_cache.h"
#include "retrace/trace/call_scope.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

std::vector<std::shared_ptr<Buffer>> run(const Plan& plan, const Recording& recording,
                                         std::span<const TensorSpec> specs, Place place) {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (const auto& input : recording.inputs()) {
    ensure(input.defined(), "an evaluated trace has values for its inputs", place);
    inputs.push_back(input.value()->buffer->data());
  }
  for (const auto& spec : specs) {
    buffers.push_back(cpu_device().allocate(spec.bytes()));
    outputs.push_back(buffers.back()->data());
  }
  plan.run(inputs.data(), outputs.data());
  return buffers;
}

}  // namespace

void finish_pending_work() { evaluate(); }

void evaluate_recording(Recording& recording, Place place) {
  const bool goes_on = CallScope::active();
  const auto keep_alive = recording.shared_from_this();
  try {
    const auto living = recording.living();
    std::vector<std::shared_ptr<TensorValue>> wanted;
    std::vector<ValueId> ids;
    std::vector<TensorSpec> specs;
    for (const auto& [id, value] : living) {
      if (value->buffer) continue;
      wanted.push_back(value);
      ids.push_back(id);
      specs.push_back(value->spec);
    }
    if (!wanted.empty()) {
      recording.set_outputs(ids);
      const auto plan = plan_cache_on() ? plan_cache().find_or_make(recording.trace()) : make_plan(recording.trace());
      set_last_plan(plan);
      const auto buffers = run(*plan, recording, specs, place);
      for (size_t i = 0; i < wanted.size(); ++i) wanted[i]->buffer = buffers[i];
    }
    if (goes_on) return;
    for (const auto& [id, value] : living) value->pending.reset();
    recording.reset();
  } catch (...) {
    recording.abandon();
    throw;
  }
}

}  // namespace retrace
