#pragma once
// What `retrace replay` does: steps of a run are computed again, and compared with what the run recorded.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/train/job.h"
#include "retrace/train/replay_check.h"

namespace retrace {

struct ReplayOptions {
  int64_t first = 1, last = 0;              // steps; 0: the last one that the run recorded
  std::vector<JobOverride> overrides = {};  // of keys that change no bit
  Monitor* monitor = nullptr;               // null: silent
  std::function<bool()> stop = {};          // as in TrainJobControl
};

struct ReplayResult {
  std::string job, device;
  int64_t first = 1, last = 0;                 // the steps that were computed and compared
  int64_t begin = 0;                           // the checkpoint that they began after; 0: the start
  int64_t fingerprints = 0;                    // of tensors that were compared
  int64_t events = 0;                          // lines of metrics.jsonl that were compared
  bool weights = false;                        // weights.safetensors was compared
  bool stopped = false;                        // by the caller, before the end
  std::optional<ReplayDifference> difference;  // the first one
};

// Computes the steps from `first` to `last` of a run again, from the newest checkpoint before `first`, or from the
// start; whatever is computed is compared with steps.jsonl, fingerprints.txt and metrics.jsonl, at the end of the run
// also with weights.safetensors. Any threads, workers and device give the same answer. Nothing is written. Errors:
// usage for steps that the run has not; bad_data for a run or data that are not what they were; those of training.
ReplayResult replay_run(const std::filesystem::path& run, const ReplayOptions& options = {});

// "A..B", "A..", "..B" or "A" as first and last. Error(usage) for another text.
void read_steps(const std::string& text, ReplayOptions& options);

}  // namespace retrace
