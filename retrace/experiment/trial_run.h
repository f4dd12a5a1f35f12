#pragma once
// The trials of an experiment, one after the other or several at once.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "retrace/experiment/plan.h"
#include "retrace/experiment/study.h"

namespace retrace {

class TrialRunner;

// A trial that is being made, on one thread.
class TrialRun {
 public:
  TrialRun(TrialRunner& runner, TrialRecord record, bool again);

  TrialRecord& record() { return record_; }
  const TrialRecord& record() const { return record_; }
  // An earlier process had begun it, or this one was told to stop.
  bool again() const { return again_; }
  // A report behind those that are there.
  void report(int64_t step, double value, int64_t iteration);
  // Takes away the reports behind an iteration, and decides on pruning anew.
  void keep_reports(int64_t iteration);
  // The newest report ends it.
  bool pruned() const { return pruned_; }
  // Somebody wants it to end for good.
  bool cancelled() const;
  bool should_stop() const;

 private:
  TrialRunner& runner_;
  TrialRecord record_;
  bool again_ = false, pruned_ = false;
};

// Who watches. Called by one thread at a time.
struct ExperimentWatcher {
  std::function<void(const TrialRecord& trial)> began = {}, ended = {};
  std::function<void(const TrialRecord& trial)> reported = {};
  std::function<bool()> stop = {};  // asked often, by several threads
};

class TrialRunner {
 public:
  // `study`: where the trials are kept and taken from, and requests of users are looked for; null: nowhere.
  TrialRunner(const ExperimentPlan& plan, Study* study, ExperimentWatcher watcher);

  // Makes all trials that are missing. The function leaves the state and what belongs to it in the record: a trial
  // whose state is `stopped` goes on later. What it throws ends the experiment; what make it fail alone is its own to
  // catch.
  ExperimentResult run(const std::function<void(TrialRun& trial)>& function);

  const ExperimentPlan& plan() const { return plan_; }

 private:
  friend class TrialRun;
  struct Begun {
    TrialRecord record;
    bool again = false;
  };
  std::optional<Begun> next();
  std::optional<Begun> next_interrupted();
  std::optional<Begun> next_new();
  bool may_begin(int64_t number) const;
  void end(TrialRun& run);
  // What users wanted since the last look; at most once a second. The mutex is held.
  void look_at_requests();
  void loop(const std::function<void(TrialRun& trial)>& function);
  bool is_over();
  double seconds() const;
  // Of the trials before this one.
  std::vector<const TrialRecord*> before(int64_t number) const;

  const ExperimentPlan& plan_;
  Study* study_;
  const ExperimentWatcher watcher_;
  mutable std::mutex mutex_;  // of all below, of the study and of the watcher
  std::condition_variable changed_;
  std::vector<TrialRecord> trials_;  // number - 1 is the index
  std::vector<bool> waiting_;        // trials that were begun, and nobody goes on with yet
  std::set<int64_t> running_, cancelled_;
  int64_t looked_ = 0;  // nanoseconds of the steady clock
  bool exhausted_ = false;
  double seconds_before_ = 0;
  int64_t began_ = 0;  // nanoseconds of the steady clock
  std::exception_ptr failure_;
};

}  // namespace retrace
