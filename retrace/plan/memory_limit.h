#pragma once
// A limit to the memory of a plan's intermediates. Over it, planning keeps fewer values from the forward to the
// backward pass and computes them again: slower, the same bits.

#include <memory>

#include "retrace/plan/plan.h"

namespace retrace {

// Bytes that the arena of a plan may have; 0: no limit. RETRACE_MEMORY_LIMIT (MiB), or set_memory_limit(). Plans that
// exist already stay as they are.
size_t memory_limit();
void set_memory_limit(size_t bytes);

// The plan of a trace within the limit. Throws Error(usage) with the least that was reached where it cannot be met.
std::shared_ptr<const Plan> make_plan(const Trace& recorded);

}  // namespace retrace
