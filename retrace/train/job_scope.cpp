#include "retrace/train/job_scope.h"

#include "retrace/plan/compile.h"
#include "retrace/train/mode_names.h"

namespace retrace {

JobSettings settings_of(const Job& job) {
  const auto& mode = job.training.mode;
  return {.threads = job.threads,
          .plan_cache = plan_cache_enabled() && job.training.acceleration != "plain",
          .plan = plan_options(),
          .fast = mode ? *mode == kFast : is_fast()};
}

}  // namespace retrace
