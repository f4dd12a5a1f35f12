#include "retrace/train/job_scope.h"

#include "retrace/plan/compile.h"

namespace retrace {

JobSettings settings_of(const Job& job) {
  return {job.threads, plan_cache_enabled() && job.training.acceleration != "plain", plan_options()};
}

}  // namespace retrace
