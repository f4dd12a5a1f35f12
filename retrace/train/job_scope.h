#pragma once
// How the threads of a job compute.

#include <optional>

#include "retrace/device/cpu/fast_mode.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/plan/options_scope.h"
#include "retrace/run/plan_cache.h"
#include "retrace/train/job.h"

namespace retrace {

// What a job and the thread that starts it say: a value, for the other threads of the job.
struct JobSettings {
  int threads = 0;  // of the CPU kernels; 0: as the thread has
  bool plan_cache = true;
  PlanOptions plan;  // of the thread that starts the job: memory limit, passes that are off
  Mode mode = Mode::reproducible;
};
JobSettings settings_of(const Job& job);

// Sets them for this thread alone, for its lifetime. Jobs with different settings may run at the same time in one
// process. Common to them are the instruction set (RETRACE_SIMD), the devices and what they keep, and the handler of
// warnings.
class JobScope {
 public:
  explicit JobScope(const JobSettings& settings)
      : plan_cache_(settings.plan_cache), plan_(settings.plan), mode_(settings.mode) {
    if (settings.threads > 0) threads_.emplace(settings.threads);
  }

 private:
  std::optional<ThreadCountScope> threads_;
  PlanCacheScope plan_cache_;
  PlanOptionsScope plan_;
  OwnModeScope mode_;
};

}  // namespace retrace
