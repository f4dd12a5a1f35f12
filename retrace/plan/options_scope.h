#pragma once
// The options by which a thread plans.

#include <cstdint>

#include "retrace/plan/options.h"

namespace retrace {

// Other options for this thread alone, for its lifetime, in place of those of the process: so jobs with different
// options can run at the same time in one process. PlanOptions::threads and mode are those of the thread
// (ThreadCountScope, OwnModeScope). Plans that exist stay as they are. Threads that this thread starts do not take them
// over; train_job() hands them to its workers. Error(usage) for an unknown pass.
class PlanOptionsScope {
 public:
  explicit PlanOptionsScope(PlanOptions options);
  ~PlanOptionsScope();
  PlanOptionsScope(const PlanOptionsScope&) = delete;
  PlanOptionsScope& operator=(const PlanOptionsScope&) = delete;

  // The innermost one of this thread, or null.
  static const PlanOptionsScope* current();
  const PlanOptions& options() const { return options_; }
  uint64_t number() const { return number_; }

 private:
  const PlanOptionsScope* outer_;
  PlanOptions options_;
  uint64_t number_;
};

// A number that is equal for equal options, and only for those: of the options by which this thread plans, but for the
// number of its threads and its mode.
uint64_t plan_options_number();

}  // namespace retrace
