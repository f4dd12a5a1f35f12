#include "retrace/train/train_job.h"

#include <fmt/format.h>

#include "retrace/base/fp_environment.h"
#include "retrace/train/training_run.h"

namespace retrace {
namespace {

std::string sizes_of(const Job& job) {
  std::string text;
  if (const auto width = resolved(job).network.width) text = fmt::format("network.width = {}, ", *width);
  return text + fmt::format("training.mini_batch_size = {}", job.training.mini_batch_size);
}

}  // namespace

TrainJobResult train_job(const Job& job, const TrainJobControl& control) {
  const FloatingPointScope floating_point;
  check_job(job);
  const TrainingCall call{.settings = settings_of(job),
                          .device = job.device,
                          .shards = job.training.shards,
                          .workers = job.workers,
                          .sizes = sizes_of(job),
                          .make_task = [&] { return task_of(job); }};
  if (control.pool) return run_training(*control.pool, call, control);
  Pool own = own_pool(call);
  return run_training(own, call, control);
}

}  // namespace retrace
