#pragma once
// What the command does with a job: train it into a run folder, predict with a run, describe its plan.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "retrace/distributed/pool.h"
#include "retrace/monitor/monitor.h"
#include "retrace/train/job.h"
#include "retrace/train/step_log.h"
#include "retrace/train/stop_reason.h"
#include "retrace/train/weights.h"

namespace retrace {

class OpWatch;  // retrace/run/op_watch.h

struct TrainJobControl {
  Pool* pool = nullptr;  // whose workers train together; null: job.workers of this process. Worker 0 tells and writes
  std::filesystem::path out = {};  // the run folder; empty: the next runs/NAME-N
  // The folder of a run of this job that goes on from its newest checkpoint, in place of `out`; empty: a new run.
  std::filesystem::path resume = {};
  // Begins after the newest checkpoint of that run which is not after iteration `most`, or at the start if it has none,
  // and leaves the run as it is; nothing: at the start.
  struct Begin {
    std::filesystem::path run;
    int64_t most = 0;
  };
  std::optional<Begin> begin = {};
  // Threads of each worker that make mini-batches of data that are not in memory, where the job says no number.
  int loader_threads = 1;
  bool write_run = true;       // false: nothing is written (golden runs)
  Monitor* monitor = nullptr;  // null: silent
  // Called after every step, on the thread of worker 0, with what the step log says of it.
  std::function<void(const StepRecord& step)> on_step = {};
  // Iterations of which every value is looked at, by worker 0; null: none.
  std::map<int64_t, OpWatch>* watched = nullptr;
  // Asked after every iteration and before every mini-batch of a validation, by every worker; true ends the run
  // ("stopped"), with the weights of that iteration; once true it stays true. A validation is broken off. A CUDA device
  // may then have begun the next iteration after the last one that a monitor was told of: it is the last.
  std::function<bool()> stop = {};
};

struct TrainJobResult {
  std::string job, device;       // of worker 0
  int workers = 1, threads = 0;  // threads of each worker
  int epochs = 0;                // a run that is stopped counts the epoch that it is in
  int64_t iterations = 0;
  int64_t output_iteration = 0;  // the one whose weights are the result
  double seconds = 0;            // the training loop with validation
  double loss = 0;               // of the test set after the last epoch; NaN: not measured
  MetricValues metrics;          // of the test set: accuracy (fraction), angle_rmse (degrees), rmse; none: not measured
  MetricTables tables = {};      // those that are tables
  std::string fingerprint;       // 16 hex digits
  std::string mode = "reproducible";  // training.mode: unless it is this, the fingerprint is that of this run alone
  std::filesystem::path run_dir;  // empty: nothing was written, or the loss was not finite before an epoch was complete
  int64_t checkpoint = 0;         // the iteration of the newest checkpoint in the folder; 0: there is none
  NetworkWeights weights;         // those of the fingerprint
  std::string stop_reason;        // "max epochs completed", "max iterations completed", "stopped", ...
  LossCause cause = {};           // if that is a loss that is not finite
};

// Trains. The result is a function of the job alone: no number of threads or workers, device or view changes a bit of
// it. Before anything is computed, job, data and network are checked against each other; the run folder appears with
// the first step. Weights are written after every epoch, whole or not at all, while the next one runs. A loss that is
// not finite ends the run; the weights of the last complete epoch are kept. A run that fails, or whose loss is not
// finite, before weights were written is removed; one that fails stays if it has a checkpoint. Errors: as the parts of
// the job say; Error(usage) for more workers
// than shards; Error(unavailable) for memory; Error(output) for files that cannot be written, after the newest weights
// were tried.
TrainJobResult train_job(const Job& job, const TrainJobControl& control = {});

// Reads a run's weights and samples (a CSV, NPY or IDX file; one image file, a folder of them, or a path with
// wildcards: retrace/train/prediction_inputs.h) and makes CSV: index, file where there are image files, class, its
// name (class_name) where the run has names, one column a score (score_NAME), and the angle where the network has one.
// Errors: missing; bad_data, also for weights that are not what was written or not finite; usage for a network that
// reads or makes something else.
struct Prediction {
  int64_t rows = 0;
  std::string csv;
};
Prediction predict_run(const std::filesystem::path& run, const std::filesystem::path& input);
// The same into a file; returns the number of rows. Errors: also usage for an output that is the input or a file of a
// run, and output (write_file_whole).
int64_t predict_run(const std::filesystem::path& run, const std::filesystem::path& input,
                    const std::filesystem::path& output);
// Whether a run makes images, or classes of pixels, which are PNG files (retrace/train/prediction_images.h); and the
// files that it makes of samples, into a folder: returns their number. Errors: as above.
bool predicts_images(const std::filesystem::path& run);
int64_t predict_run_images(const std::filesystem::path& run, const std::filesystem::path& input,
                           const std::filesystem::path& folder);

// The plan of one training step of the job, readable: passes, kernel calls and memory, and the trace after the passes;
// or instead of the trace what each pass changes, or why each kernel call is one of its own, or both.
struct PlanDetails {
  bool passes = false, why = false;
};
std::string describe_plan(const Job& job, PlanDetails details = {});

}  // namespace retrace
