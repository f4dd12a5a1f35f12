#pragma once
// How far a run has come, for lists of many runs.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "retrace/monitor/monitor.h"

namespace retrace {

// What a loop of a program tells of itself (retrace/web/progress_monitor.h).
struct LoopStanding {
  double progress = 0;  // per cent
  std::string status, x_label;
  std::vector<std::pair<std::string, std::string>> info, groups;  // field and text, metric and the title of its chart
  std::vector<std::string> logarithmic;                           // charts
};

struct RunStanding {
  std::string job, device;  // of its last start
  std::string fingerprint;  // of a finished run; else ""
  std::string stop_reason;  // of a finished run: "max epochs completed", ...; else ""
  int workers = 0, threads = 0;
  std::string mode = "reproducible";  // training.mode
  bool finished = false;              // else it goes on, or was broken off
  int64_t iteration = 0;              // of the last event
  int64_t iterations_per_epoch = 0, epochs = 0, parameters = 0;
  int epoch = 0;                     // of the last event
  double seconds = 0;                // of the last event
  double loss = 0;                   // of the training, the mean over the last epoch; NaN: no epoch has ended
  double validation_loss = 0;        // of the last validation; NaN: there was none
  MetricValues metrics;              // of the last validation; those of a finished run are of its result
  std::optional<LoopStanding> told;  // of a loop of a program
};

// From the beginning and the end of metrics.jsonl alone: what is told between the steps of the epochs is not looked at.
// Errors: missing, for a folder that holds no run. A file that is damaged, or of a run that has told nothing yet,
// leaves what it does not say at its default.
RunStanding read_run_standing(const std::filesystem::path& run);

}  // namespace retrace
