#pragma once
// The step log of a run, steps.jsonl: one line for each step of the training, which says what went in and what came
// out. It holds no times: equal trainings leave equal bytes, whatever the threads, workers and device.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace retrace {

struct StepRecord {
  int64_t iteration = 0;  // of the whole run, from 1
  int epoch = 0;          // from 1
  uint64_t samples = 0;   // of the samples, by their numbers: MiniBatchQueue::digest()
  double loss = 0, learn_rate = 0;
  // Fingerprints of the tensors after the step (docs/numerics.md 9), by their names: parameters/..., state/...,
  // solver/..., average/.... Empty where none were taken.
  std::map<std::string, uint64_t> tensors;
};

// {"iteration":1,"epoch":1,"samples":"0123456789abcdef","loss":2.3,"learn_rate":0.001} without a line end; with
// "tensors":{"parameters/...":"0123456789abcdef",...} where there are fingerprints. A loss that is not finite is null.
std::string step_line(const StepRecord& step);

// A line as above, read back; nothing for one that is none.
std::optional<StepRecord> parse_step(const std::string& line);

// RUN/steps.jsonl
std::filesystem::path step_log_path(const std::filesystem::path& run);
// The steps of a run, in order and without a gap; a last line that a crash left torn is left out. None if there is no
// such file. Error(bad_data) with file and line.
std::vector<StepRecord> read_step_log(const std::filesystem::path& run);
// Removes everything after that iteration. Errors: output; bad_data where steps before it are absent.
void cut_step_log(const std::filesystem::path& run, int64_t iterations);

// What differs between two records of a step: "samples", "learn_rate", "loss", or the first tensor, by name, that is in
// both with other fingerprints, or in one of two lists only; in this order. Empty: nothing.
std::string first_difference(const StepRecord& a, const StepRecord& b);
// What a record says of such a thing; "none" for a tensor that it does not have.
std::string text_of(const StepRecord& step, const std::string& what);

}  // namespace retrace
