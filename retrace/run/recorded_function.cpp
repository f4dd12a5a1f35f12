#include "retrace/run/recorded_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "retrace/ops/op.h"
#include "retrace/plan/compile.h"
#include "retrace/run/op_watch.h"
#include "retrace/run/plan_cache.h"
#include "retrace/tensor/own_memory.h"

namespace retrace {
namespace {

const TensorSpec kKeySpec{DType::i32, {4}, {}, {}};
constexpr size_t kMostSizes = 64;  // of the mini-batch, for which a trace is kept

std::shared_ptr<Recording> recording_for_replay(Place made) {
  auto recording = std::make_shared<Recording>();
  recording->record_for_replay(made);
  return recording;
}

std::vector<Tensor> arguments_of(std::span<const Leaf> leaves, int64_t batch) {
  std::vector<Tensor> arguments;
  for (const auto& leaf : leaves) {
    TensorSpec spec = leaf.spec();
    if (batch > 0 && spec.batch_first()) spec.shape[0] = batch;
    arguments.push_back(current_recording()->add_input(spec));
    if (leaf.tensor) current_recording()->set_argument(arguments.back(), leaf.tensor);
  }
  return arguments;
}

bool same_constants(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) {
    return x.spec() == y.spec() && std::memcmp(x.data(), y.data(), x.spec().bytes()) == 0;
  });
}

Tensor without_value() {
  static const auto value = new_tensor_value();
  return Tensor(value);
}

void look_at(OpWatch& watch, const RecordedFunction& function, const Trace& trace, std::span<const Leaf> leaves,
             const Tensor& key) {
  std::vector<Tensor> inputs;
  for (const auto& leaf : leaves) inputs.push_back(leaf.as_tensor());
  inputs.push_back(key);
  inputs.insert(inputs.end(), function.constants.begin(), function.constants.end());
  watch.look(trace, inputs);
}

std::shared_ptr<Buffer> memory_for(RecordedFunction::Instance& instance, size_t k, const TensorSpec& spec) {
  if (spec.device == 0 || spec.count() != 1 || instance.plan->donors()[k] >= 0)
    return allocate_for(spec, device_at(spec.device), {});
  instance.places.resize(instance.trace.outputs.size());
  // A copy of the handle: what another thread did before it dropped its own happens before what follows.
  if (const auto place = instance.places[k]; place && place.use_count() == 2 && place->bytes() == spec.bytes())
    return place;
  return instance.places[k] = allocate_for(spec, device_at(spec.device), {});
}

// Output k of a replay: in the memory of its donor if the call was given that, else in its own.
Tensor output_for(RecordedFunction::Instance& instance, size_t k, std::span<const Leaf> leaves) {
  const TensorSpec& spec = instance.trace.values[static_cast<size_t>(instance.trace.outputs[k])];
  const auto donor = static_cast<size_t>(instance.plan->donors()[k]);  // -1 is none of them
  if (donor >= leaves.size() || !leaves[donor].is_donated())
    return Tensor(new_tensor_value(spec, memory_for(instance, k, spec)));
  const auto& value = leaves[donor].tensor->value();
  value->spec = spec, value->on_host = nullptr;
  return Tensor(value);
}

}  // namespace

const void* Leaf::data() const {
  if (tensor) return tensor->value()->buffer->data();
  return type == DType::f32 ? static_cast<const void*>(&f32) : &f64;
}

Tensor Leaf::as_tensor() const {
  if (tensor) return *tensor;
  return type == DType::f32 ? Tensor::scalar(f32) : Tensor::scalar(f64);
}

bool Leaf::is_donated() const { return given && tensor && memory_of_its_own(*tensor); }

FunctionRecorder::FunctionRecorder(std::span<const Leaf> leaves, int64_t batch, Place made)
    : scope_(recording_for_replay(made)),
      arguments_(arguments_of(leaves, batch)),
      in_shard_(DrawScope::current() && DrawScope::current()->in_shard()),
      draws_(recording().add_input(kKeySpec)),
      place_(made) {
  draws_.set_in_shard(in_shard_);
}

Tensor FunctionRecorder::next_argument() { return arguments_[next_++]; }

void FunctionRecorder::take_result(Tensor& tensor) {
  if (!tensor.defined()) return;
  const ValueId id = recording().id_of(tensor, place_);
  const bool computed = recording().trace().producers[static_cast<size_t>(id)] >= 0;
  auto& ids = computed ? outputs_ : recording().trace().inputs;
  auto at = std::find(ids.begin(), ids.end(), id);
  if (computed && at == ids.end()) at = outputs_.insert(outputs_.end(), id);
  made_.results.push_back({computed, static_cast<size_t>(at - ids.begin())});
  tensor = without_value();
}

RecordedFunction FunctionRecorder::finish() {
  ensure(next_ == arguments_.size(), "a recorded function sees all of its arguments");
  const auto& inputs = recording().inputs();
  made_.constants.assign(inputs.begin() + static_cast<long>(arguments_.size()) + 1, inputs.end());
  made_.draws = draws_.ordinal();
  recording().set_outputs(outputs_);
  Trace trace = recording().take_trace();
  if (const DeviceId device = device_of(trace); device > 0) trace = part_on(trace, device);
  made_.instances.push_back({.trace = std::move(trace)});
  return std::move(made_);
}

RecordedFunction::Instance& RecordedFunction::at(int64_t batch) {
  if (!rule || instances.front().batch == batch) return instances.front();
  const auto found =
      std::find_if(instances.begin() + 1, instances.end(), [&](const auto& one) { return one.batch == batch; });
  if (found != instances.end()) {
    std::rotate(instances.begin(), found, found + 1);
    return instances.front();
  }
  Trace trace = rule->at(batch);
  verify(trace, "the rule of the batch size");
  if (instances.size() == kMostSizes) instances.pop_back();
  return *instances.insert(instances.begin(), {.batch = batch, .trace = std::move(trace)});
}

std::string RecordedFunction::find_rule(std::span<const RecordedFunction> probes, std::span<const int64_t> sizes) {
  std::vector<Trace> traces;
  for (const auto& probe : probes) {
    if (probe.results != results || !(probe.form == form) || probe.draws != draws)
      return "the result depends on the batch in another way";
    if (!same_constants(probe.constants, constants)) return "a number or tensor made on the host depends on the batch";
    traces.push_back(probe.instances[0].trace);
  }
  BatchRule found;
  if (auto reason = found.fit(traces, sizes); !reason.empty()) return reason;
  if (!(found.at(instances[0].batch) == instances[0].trace)) return "other operations are recorded for another batch";
  rule = std::move(found);
  return "";
}

void replay(const RecordedFunction& function, RecordedFunction::Instance& instance, std::span<const Leaf> leaves,
            const Tensor& key, std::vector<Tensor>& results) {
  if (!instance.plan) instance.plan = make_plan(instance.trace);
  if (OpWatch* const watch = OpWatchScope::current()) look_at(*watch, function, instance.trace, leaves, key);
  thread_local std::vector<const void*> inputs;
  thread_local std::vector<void*> outputs;
  thread_local std::vector<Tensor> made;
  inputs.clear(), outputs.clear(), made.clear();
  for (const auto& leaf : leaves) inputs.push_back(leaf.data());
  inputs.push_back(function.draws ? key.value()->buffer->data() : nullptr);
  for (const auto& constant : function.constants) inputs.push_back(constant.value()->buffer->data());
  // Inputs that pass through are held from here on: no result is made in their memory.
  for (const auto& result : function.results)
    results.push_back(result.computed             ? Tensor()
                      : result.at < leaves.size() ? leaves[result.at].as_tensor()
                                                  : function.constants[result.at - leaves.size() - 1]);
  for (size_t k = 0; k < instance.trace.outputs.size(); ++k) {
    made.push_back(output_for(instance, k, leaves));
    outputs.push_back(made.back().value()->buffer->data());
  }
  instance.plan->run(inputs.data(), outputs.data());
  set_last_plan(instance.plan);
  for (size_t i = 0; i < results.size(); ++i)
    if (function.results[i].computed) results[i] = made[function.results[i].at];
  made.clear();
}

void splice(const RecordedFunction& function, const RecordedFunction::Instance& instance, std::span<const Leaf> leaves,
            Place place, std::vector<Tensor>& results) {
  std::vector<Tensor> inputs;
  for (const auto& leaf : leaves) inputs.push_back(leaf.as_tensor());
  DrawScope* const scope = DrawScope::current();
  DrawShift shift{.key = instance.trace.inputs[leaves.size()]};
  inputs.emplace_back();
  if (scope) {
    if (function.draws) inputs.back() = scope->key();
    shift.ordinal = scope->take(function.draws), shift.first_sample = scope->first_sample();
  }
  inputs.insert(inputs.end(), function.constants.begin(), function.constants.end());
  const auto outputs = current_recording()->splice(instance.trace, inputs, shift, place);
  for (const auto& result : function.results)
    results.push_back(result.computed ? outputs[result.at] : inputs[result.at]);
}

std::string difference(const RecordedFunction& a, const RecordedFunction& b) {
  const auto &old = a.instances[0].trace, &made = b.instances[0].trace;
  for (size_t n = 0; n < std::min(old.nodes.size(), made.nodes.size()); ++n) {
    const Node &x = old.nodes[n], &y = made.nodes[n];
    if (x.op != y.op || x.inputs != y.inputs || !(x.attributes == y.attributes))
      return fmt::format("operation {} was {}{} and is {}{} at {}", n, x.op->name, x.attributes.print(), y.op->name,
                         y.attributes.print(), y.place.text());
  }
  if (old.nodes.size() != made.nodes.size())
    return fmt::format("{} operations were recorded and are {} now", old.nodes.size(), made.nodes.size());
  if (!(old == made) || a.results != b.results || !(a.form == b.form)) return "inputs or results are others";
  if (!same_constants(a.constants, b.constants)) return "a captured tensor or number has other values";
  return "";
}

}  // namespace retrace
