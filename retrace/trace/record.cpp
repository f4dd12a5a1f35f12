#include "retrace/trace/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "retrace/trace/call_scope.h"

namespace retrace {
namespace {

constexpr size_t kManyNodes = 100'000;
constexpr size_t kSmallBytes = 16;  // of a value of the host that kernels of any device may read: a number, a key

// Trivial, so that they can be read until the thread's very end.
thread_local constinit std::shared_ptr<Recording>* own_slot = nullptr;
thread_local constinit bool recording_ended = false;

struct OwnRecording {
  std::shared_ptr<Recording> recording = std::make_shared<Recording>();
  OwnRecording() { own_slot = &recording; }
  ~OwnRecording() { own_slot = nullptr, recording_ended = true; }
};

std::shared_ptr<Recording>& first_slot() {
  if (recording_ended)
    throw Error(ErrorKind::usage, 206, "an operation is called after the end of its thread")
        .help(
            "compute what is needed before main returns: in functions of atexit and destructors of static objects "
            "values can be read, and none is computed");
  thread_local OwnRecording own;
  return own.recording;
}

std::shared_ptr<Recording>& slot() {
  if (own_slot) [[likely]]
    return *own_slot;
  return first_slot();
}

// Whether an op that computes has an argument of bf16, f16 or i64.
bool has_stored_types(const Op& op, std::span<const Tensor> inputs) {
  if ((op.any_type && op.indices == 0) || op.view) return false;
  for (const Tensor& input : inputs)
    if (input.defined() && input.type() >= DType::bf16) return true;
  return false;
}

// The recording in the slot failed: the next one is made when it is wanted.
thread_local bool slot_failed = false;

[[noreturn]] void fail_again(Place place) {
  throw Error(ErrorKind::usage, 202, "a value is read whose computation failed before").where(place);
}

}  // namespace

const std::shared_ptr<Recording>& current_recording() {
  auto& recording = slot();
  if (slot_failed) [[unlikely]]
    recording = std::make_shared<Recording>(), slot_failed = false;
  return recording;
}

RecordingScope::RecordingScope() : RecordingScope(std::make_shared<Recording>()) {}
RecordingScope::RecordingScope(std::shared_ptr<Recording> recording) : before_(current_recording()) {
  slot() = std::move(recording);
}
RecordingScope::~RecordingScope() { slot() = std::move(before_), slot_failed = false; }

Tensor Recording::make_value(ValueId id) {
  auto value = new_tensor_value(trace_.values[static_cast<size_t>(id)]);
  value->pending = shared_from_this();
  value->id = number_of(id);
  if (values_.size() < trace_.values.size()) values_.resize(trace_.values.size());
  values_[static_cast<size_t>(id)] = value;
  return Tensor(std::move(value));
}

Tensor Recording::tensor(ValueId id) {
  if (static_cast<size_t>(id) < values_.size())
    if (auto living = values_[static_cast<size_t>(id)].lock()) return Tensor(std::move(living));
  if (trace_.producers[static_cast<size_t>(id)] < 0) {
    const auto at = std::lower_bound(trace_.inputs.begin(), trace_.inputs.end(), id);  // numbered as they came
    const auto& known = inputs_[static_cast<size_t>(at - trace_.inputs.begin())];
    if (known.defined()) return known;
  }
  return make_value(id);
}

ValueId Recording::id_of(const Tensor& tensor, Place place) try {
  tensor.spec(place);  // refuses an undefined tensor
  const auto& value = tensor.value();
  if (value->pending) {
    if (value->pending.get() == this) return ValueId{value->id};
    if (!is_outer(tensor)) refuse(tensor, place);
  }
  const auto [at, is_new] = known_.try_emplace(value.get(), kNoValue);
  if (is_new) {
    at->second = trace_.add_input(value->spec);
    inputs_.push_back(tensor);
  }
  return at->second;
} catch (const std::bad_alloc&) {
  abandon();  // half of it may be recorded
  throw;
}

bool Recording::is_outer(const Tensor& tensor) const {
  const Recording* around = outer_.get();
  while (around && tensor.value()->pending.get() != around) around = around->outer_.get();
  return around;
}

void Recording::refuse(const Tensor& foreign, Place place) const {
  const auto* other = dynamic_cast<const Recording*>(foreign.value()->pending.get());
  if (other && other->failed_) fail_again(place);
  if (other && other->outer_)
    throw Error(ErrorKind::usage, 260,
                fmt::format("a tensor left the body of {} without being returned by it", other->what_))
        .where(place)
        .got(fmt::format("{}, of the {} at {}", foreign.spec().text(), other->what_, other->made_.text()))
        .help("return it from the body");
  if (other && other->for_replay_ && !for_replay_)
    throw Error(ErrorKind::usage, 251, "a tensor left an accelerated function without being returned by it")
        .where(place)
        .got(fmt::format("{}, of the function accelerated at {}", foreign.spec().text(), other->made_.text()))
        .help("return it: what the function leaves behind elsewhere is made once and not again on replay");
  if (for_replay_ && (!other || other->owner_ == owner_))
    throw Error(ErrorKind::usage, 252, "an accelerated function uses a recorded tensor that is not among its arguments")
        .where(place)
        .got(fmt::format("{}, in the function accelerated at {}", foreign.spec().text(), made_.text()))
        .help("make it an argument: a replay sees arguments only");
  throw Error(ErrorKind::usage, 201, "a tensor that another thread recorded is used before it was computed")
      .where(place)
      .got(foreign.spec().text())
      .help("call evaluate() on the thread that made it before handing it on");
}

std::vector<Tensor> Recording::splice(const Trace& trace, std::span<const Tensor> inputs, const DrawShift& draws,
                                      Place place) try {
  std::vector<ValueId> ids(trace.values.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].defined()) ids[static_cast<size_t>(trace.inputs[i])] = id_of(inputs[i], place);
  for (const Node& recorded : trace.nodes) {
    Node node = recorded;
    const bool by_key = !recorded.inputs.empty() && recorded.inputs[0] == draws.key;
    if (draws.first_sample) node.attributes.shift("first_sample", draws.first_sample);
    if (draws.ordinal && by_key) node.attributes.shift("ordinal", draws.ordinal);
    for (ValueId& id : node.inputs) id = ids[static_cast<size_t>(id)];
    const ValueId first = trace_.add_node(std::move(node), trace.specs_of(recorded));
    for (int i = 0; i < recorded.output_count; ++i) ids[static_cast<size_t>(recorded.first_output + i)] = first + i;
  }
  std::vector<Tensor> outputs;
  outputs.reserve(trace.outputs.size());
  for (ValueId id : trace.outputs) outputs.push_back(tensor(ids[static_cast<size_t>(id)]));
  return outputs;
} catch (const std::bad_alloc&) {
  abandon();  // half of it may be recorded
  throw;
}

Tensor Recording::add_input(const TensorSpec& spec) try {
  const ValueId id = trace_.add_input(spec);
  inputs_.emplace_back();
  return make_value(id);
} catch (const std::bad_alloc&) {
  abandon();  // half of it may be recorded
  throw;
}

void Recording::set_outputs(std::span<const ValueId> ids) { trace_.outputs.assign(ids.begin(), ids.end()); }

void Recording::set_argument(const Tensor& input, const Tensor* argument) {
  arguments_[input.value().get()] = argument;
}

const Tensor* Recording::argument_of(const Tensor& input) const {
  const auto found = arguments_.find(input.value().get());
  return found == arguments_.end() ? nullptr : found->second;
}

Tensor argument_behind(Tensor tensor) {
  while (const auto* recording = dynamic_cast<const Recording*>(tensor.value()->pending.get())) {
    if (!recording->is_for_replay()) break;
    const Tensor* const argument = recording->argument_of(tensor);
    if (!argument) return {};
    tensor = *argument;
  }
  return tensor;
}

bool Recording::goes_anywhere(ValueId id) const {
  const int32_t producer = trace_.producers[static_cast<size_t>(id)];
  if (producer < 0) return trace_.values[static_cast<size_t>(id)].bytes() <= kSmallBytes;
  const auto& inputs = trace_.nodes[static_cast<size_t>(producer)].inputs;
  return std::all_of(inputs.begin(), inputs.end(), [&](ValueId input) { return goes_anywhere(input); });
}

void Recording::check_devices(const Op& op, std::span<const ValueId> inputs, Place place) const {
  const auto spec = [&](ValueId id) -> const TensorSpec& { return trace_.values[static_cast<size_t>(id)]; };
  const auto elsewhere = std::find_if(inputs.begin(), inputs.end(), [&](ValueId id) { return spec(id).device > 0; });
  if (elsewhere == inputs.end()) return;
  for (ValueId id : inputs)
    if (spec(id).device != spec(*elsewhere).device && (spec(id).device > 0 || !goes_anywhere(id)))
      throw Error(ErrorKind::usage, 203, fmt::format("{}: the arguments are on two devices", op.name))
          .where(place)
          .got(fmt::format("{} and {}", spec(*elsewhere).text(), spec(id).text()))
          .help("x.to(device) brings a tensor or a tree to a device; numbers go along by themselves");
}

ValueId Recording::append(const Op& op, Attributes attributes, std::span<const Tensor> inputs, Place place) {
  thread_local std::vector<TensorSpec> specs;  // keeps its memory
  specs.clear();
  Node node;
  node.inputs.reserve(inputs.size());
  for (const auto& input : inputs) {
    node.inputs.push_back(id_of(input, place));
    specs.push_back(input.spec());
  }
  ensure(op.inputs < 0 || op.inputs == static_cast<int>(inputs.size()), "an op is called with its number of inputs");
  node.op = &op;
  node.place = place;
  check_devices(op, node.inputs, place);
  const auto outputs = infer_call({op, attributes, specs, place});
  node.attributes = std::move(attributes);
  const ValueId first = trace_.add_node(std::move(node), outputs);
  if (trace_.nodes.size() == kManyNodes && !warned_) {
    warned_ = true;
    warn(
        fmt::format("{} operations are recorded and none was computed yet; the last is {} at {}: call evaluate() once "
                    "in that loop",
                    kManyNodes, op.name, place.text()));
  }
  return first;
}

std::vector<Tensor> Recording::add(const Op& op, Attributes attributes, std::span<const Tensor> inputs,
                                   Place place) try {
  const ValueId first = append(op, std::move(attributes), inputs, place);
  const int count = trace_.nodes.back().output_count;
  std::vector<Tensor> result;
  result.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) result.push_back(make_value(first + i));
  return result;
} catch (const std::bad_alloc&) {
  abandon();  // half of it may be recorded
  throw;
}

Tensor Recording::add_one(const Op& op, Attributes attributes, std::span<const Tensor> inputs, Place place) try {
  return make_value(append(op, std::move(attributes), inputs, place));
} catch (const std::bad_alloc&) {
  abandon();  // half of it may be recorded
  throw;
}

std::vector<std::pair<ValueId, std::shared_ptr<TensorValue>>> Recording::living() const {
  std::vector<std::pair<ValueId, std::shared_ptr<TensorValue>>> found;
  for (size_t i = 0; i < values_.size(); ++i)
    if (auto value = values_[i].lock(); value && value->pending)
      found.emplace_back(static_cast<ValueId>(i), std::move(value));
  return found;
}

void Recording::reset() {
  trace_ = Trace();
  inputs_.clear();
  values_.clear();
  known_.clear();
}

void Recording::abandon() {
  failed_ = true;
  slot_failed = slot_failed || slot().get() == this;
}

Trace Recording::take_trace(std::span<const Tensor> outputs) {
  trace_.outputs.clear();
  for (const auto& output : outputs) trace_.outputs.push_back(id_of(output, {}));
  return take_trace();
}

Trace Recording::take_trace() {
  Trace taken = std::move(trace_);
  reset();
  return taken;
}

void Recording::evaluate(Place place) {
  if (outer_)
    throw Error(ErrorKind::usage, 259, fmt::format("a value is read inside the body of {}", what_))
        .where(place)
        .got(fmt::format("the {} at {}", what_, made_.text()))
        .help("return the tensor from the body and read it outside: the body is recorded once, without values");
  if (const Recording& inner = *current_recording(); for_replay_ || inner.for_replay_)
    throw Error(ErrorKind::usage, 250, "a value is read inside an accelerated function")
        .where(place)
        .got(fmt::format("the function accelerated at {}, while it is recorded",
                         (inner.for_replay_ ? inner.made_ : made_).text()))
        .help(
            "return the tensor and read it outside; set_enabled(false), or leaving accelerate away, runs the function");
  if (failed_) fail_again(place);
  if (owner_ != std::this_thread::get_id())
    throw Error(ErrorKind::usage, 201, "a tensor that another thread recorded is read before it was computed")
        .where(place)
        .help("call evaluate() on the thread that made it before handing it on");
  ++evaluations_;
  with_place(place, [&] { evaluate_recording(*this, place); });
}

std::vector<Tensor> record(const Op& op, Attributes attributes, std::span<const Tensor> inputs, Place place) {
  if (has_stored_types(op, inputs)) [[unlikely]]
    return record_stored_types(op, std::move(attributes), inputs, place);
  return with_place(place, [&] { return current_recording()->add(op, std::move(attributes), inputs, place); });
}

Tensor record_one(const Op& op, Attributes attributes, std::initializer_list<Tensor> inputs, Place place) {
  const std::span all(inputs.begin(), inputs.size());
  if (has_stored_types(op, all)) [[unlikely]]
    return record_stored_types(op, std::move(attributes), all, place)[0];
  return with_place(place, [&] { return current_recording()->add_one(op, std::move(attributes), all, place); });
}

void refuse_while_accelerated(const char* what, Place place) {
  if (!with_place(place, [] { return current_recording()->is_for_replay(); })) return;
  throw Error(ErrorKind::usage, 253, fmt::format("{} is used inside an accelerated function", what))
      .where(place)
      .help("call it outside and pass what it gives as an argument: inside it happens once and not again on replay");
}

void evaluate(Place place) {
  with_place(place, [] { return current_recording(); })->evaluate(place);
}

void OpenCall::refuse(Place made) {
  throw Error(ErrorKind::usage, 207, fmt::format("{} recorded functions are called inside one another", kMost))
      .where(made)
      .help("a function that calls itself needs an end: a whole number, a boolean or a shape that decides it");
}

}  // namespace retrace
