#pragma once
// A function recorded once, and what its replay needs.

#include <memory>
#include <optional>
#include <vector>

#include "retrace/plan/plan.h"
#include "retrace/run/any_batch.h"
#include "retrace/run/trace_key.h"
#include "retrace/trace/call_scope.h"
#include "retrace/trace/draw_scope.h"
#include "retrace/trace/record.h"

namespace retrace {

// One input of a call: a tensor, or a number that is an input of rank 0.
struct Leaf {
  const Tensor* tensor = nullptr;
  float f32 = 0;
  double f64 = 0;
  DType type = DType::f32;  // of a number
  bool given = false;       // moved into the call: its memory may be taken for a result

  static Leaf of(const Tensor& tensor) { return {.tensor = &tensor}; }
  static Leaf of(float number) { return {.f32 = number}; }
  static Leaf of(double number) { return {.f64 = number, .type = DType::f64}; }
  TensorSpec spec() const { return tensor ? tensor->spec() : TensorSpec{type, {}, {}, {}}; }
  const void* data() const;  // of a computed tensor or a number; valid while this leaf lives
  Tensor as_tensor() const;
  // Moved into the call, and no other handle holds its memory.
  bool is_donated() const;
};

// A trace from the leaves of the arguments to those of the result.
struct RecordedFunction {
  struct Result {
    bool computed;  // the trace's output `at`; else its input `at`, passed through
    size_t at;
    bool operator==(const Result&) const = default;
  };
  // The trace for one size of the mini-batch. Inputs: the leaves of the arguments, the key of the call's draws,
  // constants.
  struct Instance {
    int64_t batch = 0;  // 0: the only one
    Trace trace;
    std::shared_ptr<const Plan> plan = {};  // null until it is replayed outside of a recording
    // Where numbers that are made on a CUDA device, in no donor's memory, lay in the last call: they lie there again
    // once nobody holds them, so that the plan's launches stay as they are.
    std::vector<std::shared_ptr<Buffer>> places = {};
  };

  TraceKey key;
  uint64_t hash = 0;
  std::vector<Instance> instances;  // most recently used first
  std::optional<BatchRule> rule;    // makes more of them
  std::vector<Tensor> constants;
  std::vector<Result> results;            // the leaves of the result, in order
  int64_t draws = 0;                      // that take the call's key
  std::shared_ptr<const void> prototype;  // the result with anything in its leaves
  TraceKey form;                          // of the prototype: all but its leaves

  Instance& at(int64_t batch);
  // Finds the rule from recordings at three other sizes: "", or why there is none.
  std::string find_rule(std::span<const RecordedFunction> probes, std::span<const int64_t> sizes);
};

// While it lives, this thread records a function for replay.
class FunctionRecorder {
 public:
  // batch > 0: the mini-batch is of that size instead.
  FunctionRecorder(std::span<const Leaf> leaves, int64_t batch, Place made);
  // The tensor that the function sees in place of the next leaf.
  Tensor next_argument();
  // The next leaf of the result; leaves something without a value in its place.
  void take_result(Tensor& tensor);
  // All of the result but its leaves.
  TraceKey& form() { return made_.form; }
  // The trace, its constants and results; the recorder is spent.
  RecordedFunction finish();

 private:
  Recording& recording() { return *current_recording(); }
  CallScope call_;
  RecordingScope scope_;
  std::vector<Tensor> arguments_;
  bool in_shard_;  // of a call around this one
  DrawScope draws_;
  RecordedFunction made_;
  std::vector<ValueId> outputs_;
  size_t next_ = 0;
  Place place_;
};

// Runs the plan (made now if there is none) on values: tensors with buffers. `key` is that of the call's draws. Results
// are made in the memory of donated leaves where the plan allows it; those leaves have lost their values then.
void replay(const RecordedFunction& function, RecordedFunction::Instance& instance, std::span<const Leaf> leaves,
            const Tensor& key, std::vector<Tensor>& results);
// Appends the trace to this thread's recording.
void splice(const RecordedFunction& function, const RecordedFunction::Instance& instance, std::span<const Leaf> leaves,
            Place place, std::vector<Tensor>& results);
// "" if both recordings of one function are the same trace over the same constants; else the first difference.
std::string difference(const RecordedFunction& a, const RecordedFunction& b);

}  // namespace retrace
