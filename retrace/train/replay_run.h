#pragma once
// What `retrace replay` does: steps of a run are computed again, and compared with what the run recorded.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "retrace/train/job.h"
#include "retrace/train/replay_check.h"

namespace retrace {

class OpWatch;  // retrace/run/op_watch.h

struct ReplayOptions {
  int64_t first = 1, last = 0;                    // steps; 0: the last one that the run recorded
  std::vector<JobOverride> overrides = {};        // of keys that change no bit
  Monitor* monitor = nullptr;                     // null: silent
  std::function<bool()> stop = {};                // as in TrainJobControl
  std::map<int64_t, OpWatch>* watched = nullptr;  // as in TrainJobControl
};

// Computes the steps from `first` to `last` of a run again, from the newest checkpoint before `first`, or from the
// start; whatever is computed is compared with steps.jsonl, fingerprints.txt and metrics.jsonl, at the end of the run
// also with weights.safetensors. Any threads, workers and device give the same answer. Nothing is written. Errors:
// usage for steps that the run has not; bad_data for a run or data that are not what they were; those of training.
ReplayResult replay_run(const std::filesystem::path& run, const ReplayOptions& options = {});

// The same of a training that is said otherwise, by its task; `averages`: its weights are averages over its steps.
// Options have no overrides.
struct TrainingCall;
ReplayResult replay_training(const std::filesystem::path& run, Pool& pool, const TrainingCall& call, bool averages,
                             const ReplayOptions& options);

// "A..B", "A..", "..B" or "A" as first and last. Error(usage) for another text.
void read_steps(const std::string& text, ReplayOptions& options);

}  // namespace retrace
