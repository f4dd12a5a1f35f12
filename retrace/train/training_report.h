#pragma once
// What a training tells and leaves behind.

#include <chrono>
#include <optional>
#include <utility>

#include "retrace/train/checkpoint_clock.h"
#include "retrace/train/run_writer.h"
#include "retrace/train/train_job.h"
#include "retrace/train/training_task.h"
#include "retrace/train/weights.h"

namespace retrace {

// Of one worker; only the first one tells anything. Events go to the monitor and, but for those of single steps, to the
// run folder; errors of what was written so far are thrown by the next event. Times count from its beginning.
class TrainingReport {
 public:
  TrainingReport(const TrainingTask& task, TrainJobControl control, bool first);

  // Makes the run folder, if one is wanted, and tells of the start: after the first step, since what cannot be trained
  // leaves no folder. A run that goes on takes its folder over; event.iteration and `epochs` say from where.
  void open(RunStarted event, int64_t epochs);
  bool is_open() const { return open_; }
  void tell(const Event& event);
  // Whether the steps are told to anybody beside the monitor, or will be: the first one is made before open().
  bool logs_steps() const { return first_ && (run_ || control_.on_step || (!open_ && control_.write_run)); }
  void step(const StepRecord& step);
  // The end of an epoch; `stopped_after`: iterations, if it is not complete, else 0.
  void epoch(int epoch, int64_t stopped_after, const NetworkWeights& weights);
  // The weights of the result, where they are not those after the last epoch.
  void result(int epoch, const NetworkWeights& weights);
  // What is due after this many iterations and (0: within one) epochs. Nothing without a run folder.
  Due due(int64_t iterations, int64_t epochs);
  bool writes() const { return run_.has_value(); }
  void checkpoint(RunWriter::Checkpoint checkpoint) { run_->checkpoint(std::move(checkpoint)); }
  // Waits for the last snapshot.
  void settle() {
    if (run_) run_->settle();
  }
  // The iteration of the newest one on the disk; 0: none.
  int64_t checkpointed() const { return run_ ? run_->checkpointed() : 0; }
  // Returns when all of it is on the disk.
  void flush();
  // The end of a run that stays: all of it on the disk, and its manifest.
  void seal();
  // After a failure: a run folder without weights, checkpoints and snapshots is removed.
  void give_up() noexcept;
  // Removes the run folder.
  void discard() noexcept;

  double seconds() const;
  // Empty: nothing is written.
  std::filesystem::path run_dir() const { return run_ ? run_->path() : std::filesystem::path(); }

 private:
  const TrainingTask& task_;
  const TrainJobControl control_;
  bool first_, open_ = false;
  std::optional<RunWriter> run_;
  CheckpointClock clock_;
  double seconds_before_ = 0;  // of the run that goes on
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace retrace
