#pragma once
// From a recorded trace to a plan: the passes in order, and again where the plan needs more memory than it may have.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "retrace/plan/plan.h"

namespace retrace {

// The options by which this thread plans, with its number of threads and its mode: those of the innermost
// PlanOptionsScope (retrace/plan/options_scope.h), else those of the process.
PlanOptions plan_options();
// Sets those of the process. At first they are RETRACE_PASSES_OFF and RETRACE_MEMORY_LIMIT (MiB). No plan that exists
// changes. Error(usage) for an unknown pass.
void set_plan_options(const PlanOptions& options);
void set_passes_off(const std::vector<std::string>& names);
void set_memory_limit(int64_t bytes);  // 0: no limit; Error(usage) for a negative number
int64_t memory_limit();

// The plan of a trace. Over the memory limit, planning keeps fewer values from the forward to the backward pass and
// computes them again: slower, the same bits. Throws Error(usage) with the least that was reached where the limit
// cannot be met.
std::shared_ptr<const Plan> make_plan(const Trace& recorded, const PlanOptions& options = plan_options());

// Passes in order; read this to know what happens to a trace.
std::span<const Pass> all_passes();
// Applies those that are on.
Trace optimise(const Trace& recorded, const PlanOptions& options, std::vector<PassReport>* report = nullptr);

}  // namespace retrace
