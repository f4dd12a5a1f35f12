// Computes a recording: what somebody still holds is the trace's output; the trace is planned, or its plan found; the
// plan runs.

#include <algorithm>

#include "retrace/distributed/courier.h"
#include "retrace/distributed/pool.h"
#include "retrace/plan/compile.h"
#include "retrace/run/plan_cache.h"
#include "retrace/tensor/own_memory.h"
#include "retrace/trace/call_scope.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

// The values that are wanted of one device.
struct Wanted {
  DeviceId device;
  std::vector<std::shared_ptr<TensorValue>> values;
  std::vector<ValueId> ids;
  bool last = false;  // nothing reads the recording's inputs after this run
};

std::vector<Wanted> by_device(const std::vector<std::pair<ValueId, std::shared_ptr<TensorValue>>>& living) {
  std::vector<Wanted> all;
  for (const auto& entry : living) {  // no structured binding: Clang 14 lets no lambda use one
    const ValueId id = entry.first;
    const auto& value = entry.second;
    if (value->buffer) continue;
    auto at = std::find_if(all.begin(), all.end(), [&](const Wanted& one) { return one.device == value->spec.device; });
    if (at == all.end()) at = all.insert(at, {value->spec.device, {}, {}, false});
    at->values.push_back(value), at->ids.push_back(id);
  }
  return all;
}

// Whether a kernel may refuse a value: then the same inputs are run once more, for the lines of the error.
bool may_refuse(const Trace& trace) {
  return std::any_of(trace.nodes.begin(), trace.nodes.end(), [&](const Node& node) {
    const bool floats =
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return is_float(trace.spec(id).type); });
    return node.op->loop || (node.op->value_error && !floats);
  });
}

// Where result k is made: in the memory of an input that goes with the recording, as donation does it, or in its own.
std::shared_ptr<Buffer> memory_for(const Plan& plan, size_t k, const Recording& recording, const Wanted& wanted,
                                   Place place) {
  const int donor = wanted.last ? plan.donors()[k] : -1;
  if (donor >= 0)
    if (auto buffer = memory_of_its_own(recording.inputs()[static_cast<size_t>(donor)])) return buffer;
  return allocate_for(wanted.values[k]->spec, device_at(wanted.device), place);
}

void run(const Plan& plan, const Recording& recording, const Wanted& wanted, Place place) {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (const auto& input : recording.inputs()) {
    if (!input.defined())
      throw Error(ErrorKind::usage, 209, "a value is read while a function is run for its shapes only")
          .where(place)
          .help("decide by shapes and options: the function of a layer has no values until it is applied");
    inputs.push_back(input.value()->buffer->data());
  }
  for (size_t k = 0; k < wanted.values.size(); ++k) {
    buffers.push_back(memory_for(plan, k, recording, wanted, place));
    outputs.push_back(buffers.back()->data());
  }
  plan.run(inputs.data(), outputs.data());
  for (size_t i = 0; i < buffers.size(); ++i) wanted.values[i]->buffer = buffers[i];
}

// By a plan of the cache, if there is one. It says the lines that it was first made for: of an error, a plan of its own
// says those of this recording. (Workers do not run anything twice, since the others wait for what they send.)
void run_cached(const Trace& trace, const Recording& recording, const Wanted& wanted, Place place) {
  const auto plan = plan_cache_enabled() ? plan_cache().find_or_make(trace) : make_plan(trace);
  set_last_plan(plan);
  try {
    run(*plan, recording, wanted, place);
  } catch (const std::bad_alloc&) {
    throw no_memory(plan->arena_bytes(), place).got("the intermediate values of a computation");
  } catch (const Error& error) {
    if (!plan_cache_enabled() || current_courier() || error.kind() != ErrorKind::usage) throw;
    run(*make_plan(trace), recording, wanted, place);
  }
}

}  // namespace

void finish_pending_work() { evaluate(); }

void evaluate_recording(Recording& recording, Place place) {
  const bool goes_on = CallScope::active();
  const auto keep_alive = recording.shared_from_this();
  try {
    const auto living = recording.living();
    auto all = by_device(living);
    if (all.size() == 1 && !goes_on) all[0].last = !may_refuse(recording.trace());
    for (const Wanted& wanted : all) {
      recording.set_outputs(wanted.ids);
      const bool alone = all.size() == 1 && wanted.device == 0 && device_of(recording.trace()) == 0;
      const Trace part = alone ? Trace() : part_on(recording.trace(), wanted.device);
      run_cached(alone ? recording.trace() : part, recording, wanted, place);
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
