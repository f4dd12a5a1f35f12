#include "retrace/train/automatic_workers.h"

#include <algorithm>

#include "retrace/device/cpu/threads.h"
#include "retrace/device/device.h"

namespace retrace {

WorkerPlan automatic_workers(const std::string& device, int64_t shards, int threads, int available) {
  const int cores = cores_of_process(), gpus = gpu_count(device);
  const int each = threads > 0 ? threads : threads_of_worker(cores);
  const int most = available > 0 ? available : gpus > 0 ? gpus : std::max(1, cores / each);
  WorkerPlan plan;
  plan.workers = static_cast<int>(std::min<int64_t>(gpus > 0 ? std::min(most, gpus) : most, shards));
  plan.loaders = std::max(most, gpus > 0 ? cores : 0) - plan.workers;
  if (available == 0 && gpus == 0) plan.loaders = 0;  // the workers have all cores
  return plan;
}

int loader_threads(const WorkerPlan& plan) {
  constexpr int most = 8;  // each holds a mini-batch
  return std::clamp(plan.loaders / plan.workers, 1, most);
}

}  // namespace retrace
