#pragma once
// Experiments: trials of one's own function with parameters that a strategy chooses. `retrace sweep` does the same with
// the trainings of a job file (docs/experiments.md).

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "retrace/base/option_values.h"
#include "retrace/base/owned.h"
#include "retrace/base/place.h"

namespace retrace {

// What is varied: one of `values`, or a number from low to high.
struct ExperimentParameter {
  std::string name;
  std::vector<OptionValue> values = {};
  double low = 0, high = 0;
  bool log = false;      // equal ratios are equally likely; low is above 0
  bool integer = false;  // whole numbers, both ends included
  int64_t points = 0;    // of a range in a grid; 0: every whole number
};

// What a trial was worth on the way.
struct TrialReport {
  int64_t step = 0;  // from 1, ascending
  double value = 0;
  int64_t iteration = 0;  // of a training of `retrace sweep`
};

// Trials that are running or stopped go on when their experiment does.
enum class TrialState { running, stopped, finished, pruned, diverged, failed, cancelled };

// One trial.
struct TrialRecord {
  int64_t number = 0;  // from 1
  TrialState state = TrialState::running;
  OptionValues parameters = {};
  uint64_t seed = 0;  // a function of the experiment's seed and the number
  double value = 0;   // NaN: there is none
  std::vector<TrialReport> reports = {};
  double seconds = 0;
  std::string error = {}, note = {};
  // Of a training of `retrace sweep`:
  int64_t iterations = 0;
  std::string fingerprint = {}, run = {};                // run: its folder within the study
  std::string job = {}, version = {}, data_digest = {};  // its job file, that of retrace, SHA-256 of what the data are
};

// How parameters are chosen and when trials end. The trials are a function of these, without `simultaneous`, and of
// what the function makes of them: neither threads nor times nor interruptions change them.
struct ExperimentOptions {
  std::vector<ExperimentParameter> parameters = {};
  std::vector<std::string> constraints = {};  // "x * y <= 512", over parameters that are numbers
  std::string strategy = "random";            // of retrace/experiment/strategies
  std::string pruning = "none";               // of retrace/experiment/pruners
  OptionValues strategy_options = {}, pruning_options = {};
  int64_t trials = 0;  // 0: the whole grid; 30 of other strategies
  uint64_t seed = 0;
  bool maximize = false;
  // Trial n is chosen, and pruned, by what is known of the trials 1 to n - window: as many can run at once.
  int64_t window = 4;
  int simultaneous = 1;    // trials at once, on threads of their own
  double time_limit = 0;   // seconds, over all calls; 0: none
  std::string study = {};  // a folder that keeps the trials, so that a later call goes on; empty: none does
};

class TrialRun;
class ExperimentPlan;

// The trial of a call. Used by the thread of the call.
class Trial {
 public:
  explicit Trial(TrialRun& run) : run_(&run) {}
  int64_t number() const;
  uint64_t seed() const;
  // trial.parameters().number("learn_rate")
  const OptionValues& parameters() const;
  // What the trial is worth after a step; steps ascend. Error(usage) where they do not.
  void report(int64_t step, double value);
  // The trial is to end early, since it is pruned, cancelled, or the experiment ends: what the function returns then
  // does not count. Ask after each report.
  bool should_stop() const;

 private:
  TrialRun* run_;
};

// What an experiment found.
struct ExperimentResult {
  std::vector<TrialRecord> trials;  // by their numbers
  bool complete = false;            // all trials were made; false: stopped, or out of time
  int64_t best = 0;                 // the number of the best trial that finished, the first of equal ones; 0: none did
};

// Many trials of a function, and the best of them.
class Experiment {
 public:
  // Errors: usage for parameters, constraints and options that are not in order.
  explicit Experiment(ExperimentOptions options, Place place = Place::here());
  Experiment(Experiment&&) noexcept;
  ~Experiment();

  // Calls the function for each trial; it returns the objective. One that throws makes its trial `failed`, and the
  // others go on; one that returns a number that is not finite, `diverged`. With options.simultaneous above 1 it is
  // called by several threads at the same time. `stop`, asked often, ends the experiment early. With a study trials
  // that are there are not made again; those that an earlier process began are begun anew. Errors: usage for a study of
  // another experiment or one that another process uses; unavailable where retrace was built without SQLite; output.
  ExperimentResult run(const std::function<double(Trial& trial)>& function, const std::function<bool()>& stop = {});

 private:
  Owned<ExperimentPlan> plan_;
};

}  // namespace retrace
