#pragma once
// What a training tells and leaves behind.

#include <chrono>
#include <optional>
#include <utility>

#include "retrace/train/run_writer.h"
#include "retrace/train/train_job.h"
#include "retrace/train/weights.h"

namespace retrace {

// Of one worker; only the first one tells anything. Events go to the monitor and, but for those of single steps, to the
// run folder; errors of what was written so far are thrown by the next event. Times count from its beginning.
class TrainingReport {
 public:
  TrainingReport(const Job& job, TrainJobControl control, bool first);

  // Makes the run folder, if one is wanted, and tells of the start: after the first step, since what cannot be trained
  // leaves no folder.
  void open(RunStarted event);
  bool is_open() const { return open_; }
  void tell(const Event& event);
  // The end of an epoch; `stopped_after`: iterations, if it is not complete, else 0.
  void epoch(int epoch, int64_t stopped_after, const NetworkWeights& weights);
  // Returns when all of it is on the disk.
  void flush();
  // After a failure: a run folder without weights is removed.
  void give_up() noexcept;

  double seconds() const;
  // Empty: nothing is written.
  std::filesystem::path run_dir() const { return run_ ? run_->path() : std::filesystem::path(); }

 private:
  const Job& job_;
  const TrainJobControl control_;
  bool first_, open_ = false;
  std::optional<RunWriter> run_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace retrace
