#pragma once
// How plans are made, kept and run.

#include <cstdint>

#include "retrace/device/cpu/thread_count.h"

namespace retrace {

// Whether plans are kept. If not, every evaluation makes its plan anew. RETRACE_PLAN_CACHE=off or
// set_plan_cache_enabled(false) turns it off.
bool plan_cache_enabled();

// Turns the cache on or off for the process.
void set_plan_cache_enabled(bool on);

// The most bytes that the intermediates of a plan may take, for plans that are made from now on; 0: no limit. Over the
// limit fewer values are kept from the forward to the backward pass, and computed again (gradient checkpointing):
// slower, the same bits. Planning throws Error(usage), with the least that was reached, where the limit cannot be met.
// Error(usage) for a negative number.
void set_memory_limit(int64_t bytes);

// The limit by which this thread plans.
int64_t memory_limit();

// The mode in which this thread computes: within a training the training's, else that of the process; reproducible at
// first.
Mode mode();
// Sets that of the process and returns the mode before. It holds for what is computed from now on and for every worker
// of the process, but not for trainings, which keep the mode that they began with. Plans and accelerated functions are
// kept for each mode. No seed changes.
Mode set_mode(Mode mode);

// A mode for the lifetime of this; afterwards that before it again.
class ModeScope {
 public:
  explicit ModeScope(Mode mode) : before_(set_mode(mode)) {}
  ~ModeScope() { set_mode(before_); }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  Mode before_;
};

}  // namespace retrace
