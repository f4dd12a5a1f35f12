#pragma once
// How plans are made and kept.

#include <cstdint>

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

}  // namespace retrace
