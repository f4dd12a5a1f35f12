#pragma once
// What a run recorded, against what a replay of it computes.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "retrace/monitor/monitor.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/step_log.h"
#include "retrace/train/train_network.h"

namespace retrace {

// The logs of a run, compared step by step, event by event. What is compared first and differs is kept.
class ReplayCheck : public Monitor {
 public:
  // Reads the logs. `averages`: the weights of the run are averages over its steps. Errors: as reading them; missing
  // where the run has no step log.
  ReplayCheck(const std::filesystem::path& run, bool averages);

  const std::vector<StepRecord>& log() const { return log_; }
  // The run came to its end by itself: it was not stopped, nor ended by a failure.
  bool is_complete() const { return complete_; }
  // It wrote its end, also where it was stopped.
  bool is_finished() const { return finished_; }

  void step(const StepRecord& computed);
  void receive(const Event& event) override;
  // Tensors of the weights in the run, and of those that were computed.
  void weights(int64_t iteration, const std::map<std::string, uint64_t>& recorded,
               const std::map<std::string, uint64_t>& computed);
  // When all was computed up to that iteration: lines of metrics.jsonl that nothing was computed for.
  void end(int64_t iteration);

  const std::optional<ReplayDifference>& difference() const { return difference_; }
  int64_t begin() const { return begin_; }  // the iteration of the checkpoint; 0: the start
  int64_t steps() const { return steps_; }
  int64_t fingerprints() const { return fingerprints_; }  // of tensors
  int64_t events() const { return events_; }

 private:
  using EventKey = std::pair<int64_t, std::string>;  // iteration, kind
  void read_events(const std::filesystem::path& run);
  void differ(int64_t iteration, std::string what, std::string recorded, std::string computed);
  void compare_epoch(const StepRecord& computed);
  bool ends_epoch(const StepRecord& step) const;

  bool averages_ = false, complete_ = false, finished_ = false, has_gaps_ = false;
  std::vector<StepRecord> log_;
  std::map<int, EpochFingerprints> epochs_;
  std::map<EventKey, std::string> told_;  // lines that were not computed yet
  int64_t begin_ = 0, steps_ = 0, fingerprints_ = 0, events_ = 0;
  std::optional<ReplayDifference> difference_;
};

}  // namespace retrace
