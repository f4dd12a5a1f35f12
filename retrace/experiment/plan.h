#pragma once
// An experiment whose options have been checked.

#include "retrace/experiment/pruner_kind.h"
#include "retrace/experiment/strategy_kind.h"

namespace retrace {

class ExperimentPlan {
 public:
  // Errors: usage for options that are not in order.
  ExperimentPlan(ExperimentOptions options, Place place);

  const ExperimentOptions& options() const { return options_; }
  const SearchSpace& space() const { return space_; }
  // The most trials; 0: as many as there are.
  int64_t trials() const;
  // Whether trial n waits until the trials 1 to n - window have ended.
  bool waits() const { return strategy_->uses_results || pruner_->uses_results; }
  // What decides the trials, as text: equal texts, equal experiments.
  std::string identity() const;

  uint64_t seed_of(int64_t number) const;
  // The parameters of trial `number`; nothing: there are no more. `before`: the trials 1 to number - 1, of which those
  // up to number - window have ended.
  std::optional<OptionValues> suggest(int64_t number, const std::vector<const TrialRecord*>& before) const;
  // Whether the trial ends after its newest report.
  bool prunes(const TrialRecord& trial, const std::vector<const TrialRecord*>& before) const;

 private:
  std::vector<const TrialRecord*> usable(int64_t number, const std::vector<const TrialRecord*>& before) const;
  double loss(double value) const { return options_.maximize ? -value : value; }

  ExperimentOptions options_;
  SearchSpace space_;
  const StrategyKind* strategy_;
  const PrunerKind* pruner_;
};

// The names of states: "running".
const char* state_name(TrialState state);
// Error(bad_data) for another text.
TrialState state_of(const std::string& name);
// It has come to its end, of whatever kind.
bool has_ended(TrialState state);
// The number of the best one that finished, the first of equal ones; 0: none did.
int64_t best_trial(const std::vector<TrialRecord>& trials, bool maximize);

}  // namespace retrace
