#include "retrace/train/job_scope.h"

#include "retrace/plan/compile.h"

namespace retrace {

JobSettings settings_of(const Job& job) {
  const auto& mode = job.training.mode;
  return {.threads = job.threads,
          .plan_cache = plan_cache_enabled() && job.training.acceleration != "plain",
          .plan = plan_options(),
          .mode = mode ? mode_named(*mode) : mode_of_thread()};
}

}  // namespace retrace
