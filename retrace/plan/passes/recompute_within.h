#pragma once
// Recomputation under a memory limit.

#include "retrace/plan/options.h"
#include "retrace/trace/trace.h"

namespace retrace {

// The trace with large values computed again before a late reader, cheap ones first, until what lives at any node is at
// most options.memory_share of the peak, or nothing helps any more.
Trace recompute_within(Trace trace, const PlanOptions& options);

}  // namespace retrace
