#pragma once
// What a run told of itself, read back from its folder.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "retrace/monitor/monitor.h"
#include "retrace/train/step_log.h"

namespace retrace {

struct RunLog {
  std::optional<RunStarted> started;
  std::vector<StepRecord> steps;  // with loss and learn rate; none: an earlier version wrote no log of steps
  std::vector<EpochDone> epochs;
  std::vector<ValidationDone> validations;
  std::optional<RunFinished> finished;  // none: the run goes on, or was broken off
  int64_t unread = 0;                   // lines that are no events: of a damaged file, or of a later version
};

// metrics.jsonl and steps.jsonl of a run, also of one that goes on. null is NaN. Errors: missing, for a folder that
// holds no run.
RunLog read_run_log(const std::filesystem::path& run);

// The iteration and the seconds of the last event.
std::pair<int64_t, double> last_position(const RunLog& log);

}  // namespace retrace
