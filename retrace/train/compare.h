#pragma once
// Where two runs part: the first step, epoch and tensors whose fingerprints differ, and how far the last weights are
// from each other.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/train/safetensors.h"

namespace retrace {

struct SettingDifference {
  std::string key, a, b;  // "training.max_epochs", "20", "2"; empty where a run has no such key
};

struct TensorDifference {
  std::string name;
  std::string problem;    // "only in the first run", "other shape or type", "NaN against a number", or ""
  uint64_t count = 0;     // values that differ
  uint64_t size = 0;      // values of the tensor
  uint64_t distance = 0;  // the largest, in units in the last place (integers: their difference)
};

struct StoppedEpoch {
  int epoch = 0;
  int64_t iteration = 0;  // of the run, the last one
};

struct StepDifference {
  int64_t iteration = 0;
  int epoch = 0;
  std::string what;  // first_difference() in step_log.h: "samples", "loss", "parameters/output/weights"
  std::string a, b;  // what the runs have there
};

struct RunComparison {
  bool equal = true;
  int epochs_a = 0, epochs_b = 0;  // with recorded fingerprints
  bool has_weights = false;        // both runs have them
  // training.mode: other bits are no fault unless both are reproducible.
  std::string mode_a = "reproducible", mode_b = "reproducible";
  // The last epoch of a run that was stopped within it: its fingerprints, and the last weights, are of that iteration.
  std::optional<StoppedEpoch> stopped_a, stopped_b;
  std::optional<StepDifference> first_step;  // that differs, of those that are in both step logs
  std::optional<int> first_epoch;            // with a difference
  std::vector<std::string> first_tensors;    // of that epoch; none if the runs reached different iterations of it
  std::vector<TensorDifference> weights;     // that differ
  std::vector<std::string> not_finite_a, not_finite_b;  // tensors of the last weights with a NaN or infinity
  std::vector<SettingDifference> settings;              // of job, versions and machine; they do not decide `equal`
};

// Compares two runs by their folders alone; either may be a safetensors file instead, then only weights are
// compared. A run with fewer epochs differs, and so does one that was stopped at another iteration. Errors: missing if
// a path does not exist or the two have nothing in common that could be compared; bad_data, also for weights that are
// not what was written.
RunComparison compare_runs(const std::filesystem::path& a, const std::filesystem::path& b);

// The tensors of two sets that differ, in name order. One unit in the last place is the step to the next number
// of the type; +0 and -0 are one apart; NaNs are equal to each other.
std::vector<TensorDifference> compare_tensors(const SafeTensors& a, const SafeTensors& b);

}  // namespace retrace
