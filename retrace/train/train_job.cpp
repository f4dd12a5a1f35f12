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
  Pool own = Pool::local(control.pool ? 1 : job.workers, {}, {});
  return run_training(control.pool ? *control.pool : own,
                      {.settings = settings_of(job),
                       .device = job.device,
                       .shards = job.training.shards,
                       .sizes = sizes_of(job),
                       .make_task = [&] { return task_of(job); }},
                      control);
}

}  // namespace retrace
