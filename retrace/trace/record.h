#pragma once
// Recording: the single door through which every op call goes. Each thread records into a trace of its own.
// The recorded work is computed when a value is read, at evaluate(), when a function made by value_and_grad or
// accelerate returns to code outside of any, and before a tensor leaves its thread; never otherwise.

#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "retrace/base/warning.h"
#include "retrace/trace/op.h"

namespace retrace {

// How the draws of a spliced trace are renumbered: they follow those that the recording already has.
struct DrawShift {
  ValueId key = kNoValue;    // the input of the trace that is the call's key
  int64_t ordinal = 0;       // added to the ordinals of draws by that key
  int64_t first_sample = 0;  // added to the first samples of all draws
};

class Recording : public PendingWork, public std::enable_shared_from_this<Recording> {
 public:
  const Trace& trace() const { return trace_; }
  // The value of trace().inputs[i].
  const std::vector<Tensor>& inputs() const { return inputs_; }

  // Records an operation. Returns its outputs, or the first of them.
  std::vector<Tensor> add(const Op& op, Attributes attributes, std::span<const Tensor> inputs, Place place);
  Tensor add_one(const Op& op, Attributes attributes, std::span<const Tensor> inputs, Place place);
  // A handle to a recorded value: the living one if there is one.
  Tensor tensor(ValueId id);
  // The id of a tensor of this recording; of a known tensor: as an input.
  ValueId id_of(const Tensor& tensor, Place place);
  // An input without a value, for traces that are made and not run (passes, tests).
  Tensor add_input(const TensorSpec& spec);
  // Values that somebody still holds: (id, value), ascending.
  std::vector<std::pair<ValueId, std::shared_ptr<TensorValue>>> living() const;

  void set_outputs(std::span<const ValueId> ids);
  void evaluate(Place place) override;
  // A recording that is replayed and never evaluated itself, of the function accelerated at `made`: reading a value is
  // an error, and so is a pending tensor from outside, which a replay could not see.
  void record_for_replay(Place made) { for_replay_ = true, made_ = made; }
  bool is_for_replay() const { return for_replay_; }
  // A recording of the body of `what`, which is called at `made` within `outer`: what it uses of the outer one, and
  // tensors that are known, become inputs. Reading its values is an error.
  void record_body(std::shared_ptr<const Recording> outer, const char* what, Place made) {
    outer_ = std::move(outer), what_ = what, made_ = made;
  }
  // Appends the nodes of a recorded trace whose inputs have these values here (undefined: nothing reads it); returns
  // its outputs.
  std::vector<Tensor> splice(const Trace& trace, std::span<const Tensor> inputs, const DrawShift& draws, Place place);
  // Of a recording that is replayed: the argument of the recorded call for which this input stands, until its end.
  void set_argument(const Tensor& input, const Tensor* argument);
  const Tensor* argument_of(const Tensor& input) const;
  // How often values of this recording were computed while it went on.
  int64_t evaluations() const { return evaluations_; }
  // Leaves the recording empty; what is still pending in it can no longer be computed.
  void reset();
  // After a failure: what is still pending here says so when it is read; the thread goes on with a new recording.
  void abandon();
  // With these outputs, or those that were set; the recording is spent.
  Trace take_trace(std::span<const Tensor> outputs);
  Trace take_trace();

 private:
  // Records an operation without handles to its outputs. Returns the id of the first.
  ValueId append(const Op& op, Attributes attributes, std::span<const Tensor> inputs, Place place);
  Tensor make_value(ValueId id);
  // Made of numbers and constants alone, so that it can be computed on any device.
  bool goes_anywhere(ValueId id) const;
  void check_devices(const Op& op, std::span<const ValueId> inputs, Place place) const;
  // A tensor of the recording around this body, or of one around that.
  bool is_outer(const Tensor& tensor) const;
  [[noreturn]] void refuse(const Tensor& foreign, Place place) const;
  Trace trace_;
  std::vector<Tensor> inputs_;
  std::vector<std::weak_ptr<TensorValue>> values_;
  std::unordered_map<const TensorValue*, ValueId> known_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::unordered_map<const TensorValue*, const Tensor*> arguments_;
  int64_t evaluations_ = 0;
  std::shared_ptr<const Recording> outer_;  // of a body
  const char* what_ = "";                   // whose body it is
  bool failed_ = false, warned_ = false, for_replay_ = false;
  Place made_;
};

// The recording of this thread.
const std::shared_ptr<Recording>& current_recording();

// The tensor itself, or, while an accelerated function is recorded, the argument of the call for which it stands;
// undefined if there is none.
Tensor argument_behind(Tensor tensor);

// Makes another recording current for its lifetime (used by passes and tests).
class RecordingScope {
 public:
  RecordingScope();  // a new one
  explicit RecordingScope(std::shared_ptr<Recording> recording);
  ~RecordingScope();
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;
  Recording& recording() { return *current_recording(); }

 private:
  std::shared_ptr<Recording> before_;
};

// Appends a call of `op` to this thread's trace: checks, infers, computes nothing.
std::vector<Tensor> record(const Op& op, Attributes attributes, std::span<const Tensor> inputs, Place place);
Tensor record_one(const Op& op, Attributes attributes, std::initializer_list<Tensor> inputs, Place place);

// Throws Error(usage) if this thread records an accelerated function: `what` would happen once and not again on replay.
void refuse_while_accelerated(const char* what, Place place);

// A call of an op that computes, with arguments of bf16, f16 or i64: those of bf16 and f16 are converted to f32, and
// what is f32 in the result is converted to their type. Implemented in ops/cast/, above this folder.
std::vector<Tensor> record_stored_types(const Op& op, Attributes attributes, std::span<const Tensor> inputs,
                                        Place place);

// Implemented in run/, above this folder: how a recording is planned and run.
void evaluate_recording(Recording& recording, Place place);

}  // namespace retrace
