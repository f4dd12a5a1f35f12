#pragma once
// Trials that are trainings of a job: `retrace sweep`.

#include <filesystem>

#include "retrace/experiment/experiment_file.h"
#include "retrace/experiment/trial_run.h"
#include "retrace/train/job.h"

namespace retrace {

struct SweepControl {
  std::filesystem::path out = {};           // the folder of the study; empty: experiments/NAME
  std::optional<int> simultaneous = {};     // in place of the file's
  std::vector<JobOverride> overrides = {};  // of keys that change no bit: threads, workers, device, data.path
  ExperimentWatcher watcher = {};
};

// A study that was made, or that a file is to make.
struct Sweep {
  std::filesystem::path folder;
  std::string objective;
  bool maximize = false;
  int64_t trials = 0;  // the most; 0: as many as the grid has
};
Sweep sweep_of(const ExperimentFile& file, const SweepControl& control);

// Trains what is missing of the trials, each into a run folder of its own, FOLDER/trials/0001. A trial that was broken
// off goes on from its newest checkpoint: the results are those of a sweep that nothing happened to, whatever
// `simultaneous`, threads and workers. A training that fails makes its trial `failed`. Errors: usage for a file whose
// parameters are no keys of the job, for an objective that is not measured, and for a study of another experiment; as
// Study.
ExperimentResult run_sweep(const ExperimentFile& file, const SweepControl& control);

}  // namespace retrace
