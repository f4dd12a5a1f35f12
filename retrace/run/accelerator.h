#pragma once
// The part of accelerate() that does not depend on the user's types.

#include <memory>
#include <span>
#include <string>
#include <typeinfo>

#include "retrace/base/function_ref.h"
#include "retrace/base/owned.h"
#include "retrace/base/place.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

class FunctionRecorder;  // retrace/run/recorded_function.h
class Plan;              // retrace/plan/plan.h
struct RecordedFunction;

// How each hit is checked: not at all, or against a plain run of the function, by bits or by a tolerance.
enum class Check { off, bits, tolerance };

// Options of accelerate.
struct AccelerateOptions {
  bool any_batch = false;         // one recording for all sizes of the axis B: see accelerate()
  int64_t cache_size = 50;        // traces that are kept; the least recently used goes
  Check check_mode = Check::off;  // bits, tolerance: each hit also runs the function plainly and compares
  double check_tolerance = 1e-4;  // Check::tolerance: |a - b| <= check_tolerance * max(|a|, |b|)
  uint64_t seed = 0;              // of random ops inside; a function made by value_and_grad brings its own
  std::string name = "";          // part of their draws: see GradientOptions::name
  bool enabled = true;
};

namespace detail {

class ArgumentReader;  // retrace/run/call_parts.h
struct CallState;      // retrace/run/call_state.h

// The cache of recorded functions of one accelerated function, and its counters.
class Accelerator {
 public:
  Accelerator(const AccelerateOptions& options, Place made);
  ~Accelerator();
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  // Neither switched off nor plain (RETRACE_PLAN_CACHE=off).
  bool active() const;
  // Calls run(), the function itself, with draws of this call.
  void run_plainly(FunctionRef<void()> run) const;

  void set_cache_size(int64_t size);
  void clear();
  double hit_rate() const;   // percent
  double occupancy() const;  // percent
  std::string why() const;

  AccelerateOptions options;
  const Place made;
  int64_t calls = 0;  // outermost ones so far
  int64_t hits = 0, misses = 0, evictions = 0;

 private:
  friend class AcceleratedCall;
  struct Cache;
  void keep(std::shared_ptr<RecordedFunction> function);  // a miss
  Owned<Cache> cache_;
};

// The user's function with the arguments of a call.
struct TypedCall {
  // Visits the arguments.
  FunctionRef<void(ArgumentReader& reader)> read;
  // Calls the function with what the recorder gives for the arguments. Returns its result, with anything in its leaves.
  FunctionRef<std::shared_ptr<const void>(FunctionRecorder& recorder)> record;
};

// One call of an accelerated function.
class AcceleratedCall {
 public:
  // arguments: their types; given: of each, whether it was moved into the call. Throws Error(usage) on a second thread,
  // and for a call inside of too many others.
  AcceleratedCall(Accelerator& accelerator, const std::type_info& arguments, std::span<const bool> given);
  ~AcceleratedCall();
  AcceleratedCall(const AcceleratedCall&) = delete;
  AcceleratedCall& operator=(const AcceleratedCall&) = delete;

  // Counts the call: see Accelerator::calls.
  void count();
  // Finds what was recorded for this form of the arguments, or records it, and computes the leaves of the result.
  // Returns the result with anything in its leaves; valid until this call ends.
  const void* compute(const TypedCall& typed);
  // Records the function for these arguments. The plan of the trace, which is not run.
  std::shared_ptr<const Plan> plan(const TypedCall& typed);
  // The leaves, in order: values, or tensors of the recording around this call.
  Tensor* results();
  // In check mode, for a hit: compares the recordings where there is one around this call, and returns false; else
  // whether the result is to be compared with that of the function itself.
  bool wants_plain_result(const TypedCall& typed);

 private:
  // False if any_batch is wanted and does not suit the arguments.
  bool read(const TypedCall& typed, bool any_batch);
  void record_new(const TypedCall& typed);

  Accelerator& accelerator_;
  Owned<CallState> state_;
};

// For people: see explain().
std::string text_of(const Plan& plan);

}  // namespace detail
}  // namespace retrace
