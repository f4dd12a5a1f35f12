#pragma once
// The part of accelerate() that does not depend on the user's types.

#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "retrace/run/recorded_function.h"

namespace retrace {

// How each hit is checked: not at all, or against a plain run of the function, by bits or by a tolerance.
enum class Check { off, bits, tolerance };

// Options of accelerate.
struct AccelerateOptions {
  bool any_batch = false;         // one recording for all sizes of the axis B: see accelerate.h
  int cache_size = 50;            // traces that are kept; the least recently used goes
  Check check_mode = Check::off;  // bits, tolerance: each hit also runs the function plainly and compares
  double check_tolerance = 1e-4;  // Check::tolerance: |a - b| <= check_tolerance * max(|a|, |b|)
  uint64_t seed = 0;              // of random ops inside; a function made by value_and_grad brings its own
  bool enabled = true;
};

// The cache of recorded functions, its counters, and the text about misses.
class Accelerator {
 public:
  // The state of a call while it is made. It is kept between calls, so that a hit allocates little.
  struct Call {
    TraceKey key;
    std::vector<Leaf> leaves;
    std::span<const bool> given;  // of each argument: whether it was moved into the call
    std::vector<Tensor> results;
    int64_t batch = 0;  // size of the axis B where the key leaves it out
  };

  Accelerator(AccelerateOptions options, Place made);

  // Throws Error(usage) on a second thread.
  void check_thread();
  // Neither switched off nor plain (RETRACE_PLAN_CACHE=off).
  bool active() const;
  // Memory for a call, and the memory back.
  Call take_call() { return std::move(scratch_); }
  void give_back(Call&& call);

  // The function recorded for this key, counted as a hit; null if there is none.
  std::shared_ptr<RecordedFunction> find(const TraceKey& key);
  // Keeps a function, counted as a miss.
  void keep(std::shared_ptr<RecordedFunction> function);
  // Computes pending arguments before a recording on one of several workers, which compare them.
  void compute_for_workers(const Call& call) const;
  // Fills call.results: values, or tensors of the recording around this call.
  void compute(RecordedFunction& function, Call& call);
  // Calls of this key are recorded for each batch size, for this reason.
  void refuse_any_batch(const TraceKey& key, const std::string& reason) { exact_.emplace_back(key, reason); }
  bool refuses_any_batch(const TraceKey& key) const;
  // Throws Error(usage) unless both recordings are the same.
  void check_recordings(const RecordedFunction& kept, const RecordedFunction& again) const;

  void set_cache_size(int size);
  void clear();
  double hit_rate() const;   // percent
  double occupancy() const;  // percent
  std::string why() const;

  AccelerateOptions options;
  const Place made;
  int64_t calls = 0;  // outermost ones so far
  int64_t hits = 0, misses = 0, evictions = 0;

 private:
  friend class RecordingGuard;
  void warn_if_it_keeps_missing();
  std::vector<std::shared_ptr<RecordedFunction>> functions_;  // most recently used first
  std::vector<std::pair<TraceKey, std::string>> exact_;
  std::vector<const TraceKey*> in_progress_;
  Call scratch_;
  std::thread::id owner_;
  TraceKey missed_, before_miss_;  // keys of the last miss and of the call before it
  bool warned_ = false;
  int misses_in_a_row_ = 0;
};

// While it lives, a function is recorded for this key; a call with the same key meanwhile is an Error(usage).
class RecordingGuard {
 public:
  RecordingGuard(Accelerator& accelerator, const TraceKey& key);
  ~RecordingGuard() { accelerator_.in_progress_.pop_back(); }
  RecordingGuard(const RecordingGuard&) = delete;
  RecordingGuard& operator=(const RecordingGuard&) = delete;

 private:
  Accelerator& accelerator_;
};

}  // namespace retrace
