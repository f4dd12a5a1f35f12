#include "retrace/cli/run_result.h"

#include <algorithm>

#include "retrace/report/run_log.h"
#include "retrace/train/run_folder.h"

namespace retrace::cli {
namespace {

// Of a run that keeps the best: the first validation with the loss of the result.
int64_t output_iteration(const RunLog& log, const TrainJobResult& result) {
  const auto found = std::find_if(log.validations.begin(), log.validations.end(),
                                  [&](const ValidationDone& one) { return one.loss == result.loss; });
  return found == log.validations.end() ? result.iterations : found->iteration;
}

}  // namespace

TrainJobResult result_of_run(const std::filesystem::path& run) {
  const RunLog log = read_run_log(run);
  const RunStarted started = log.started.value_or(RunStarted());
  const RunFinished finished = log.finished.value_or(RunFinished());
  TrainJobResult result{.job = started.job,
                        .device = started.device,
                        .workers = started.workers,
                        .threads = started.threads,
                        .epochs = finished.epoch,
                        .iterations = finished.iteration,
                        .seconds = finished.seconds,
                        .loss = finished.loss,
                        .metrics = finished.metrics,
                        .tables = finished.tables,
                        .fingerprint = finished.fingerprint,
                        .mode = finished.mode,
                        .run_dir = run,
                        .weights = {},
                        .stop_reason = finished.stop_reason};
  const bool best = read_run_job(run).training.output_network == "best-validation";
  result.output_iteration = best ? output_iteration(log, result) : result.iterations;
  return result;
}

}  // namespace retrace::cli
