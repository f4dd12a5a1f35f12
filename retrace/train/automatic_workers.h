#pragma once
// How many workers share a training where its user leaves that to it (workers = 0), and what the others do. The number
// of shards stays that of the job: it decides bits.

#include <cstdint>
#include <string>

namespace retrace {

struct WorkerPlan {
  int workers = 1;  // that compute
  int loaders = 0;  // what is left for making mini-batches ahead of time: threads of this process
};

// Of `available` workers of a pool of threads, or for 0 of those that this process can have: on the CPU its cores,
// shared out with `threads` for each (0: as many as were set, else one), on CUDA one for each device that `device`
// means. Never more than the shards or those devices compute; what is left of a pool, or of the cores beside CUDA
// devices, loads. Errors as find_device().
WorkerPlan automatic_workers(const std::string& device, int64_t shards, int threads, int available = 0);

// The loader threads of each worker under a plan, for data that are not in memory: at least the one that there is
// without it, and at most 8.
int loader_threads(const WorkerPlan& plan);

}  // namespace retrace
