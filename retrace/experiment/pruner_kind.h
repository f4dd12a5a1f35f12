#pragma once
// Pruning by name: retrace/experiment/pruners/NAME.cpp defines `PrunerKind NAME_pruner()`.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/experiment/experiment.h"

namespace retrace {

// What a decision may depend on. Smaller values are better.
struct PruningView {
  std::vector<TrialReport> own;                  // of the trial, the newest last
  std::vector<std::vector<TrialReport>> others;  // of the trials whose results may be used, by their numbers
};

// The best value that a trial had up to a step; nothing if it had none, or did not come so far.
std::optional<double> best_until(const std::vector<TrialReport>& reports, int64_t step);

struct PrunerKind {
  std::string name;
  std::string_view help;                 // one line
  std::vector<OptionRule> options = {};  // keys of [pruning]
  bool uses_results = true;              // else no trial waits for others
  // Whether the trial ends after its newest report. A pure function.
  std::function<bool(const PruningView& view, const OptionValues& options)> prune;
};

// Every way of pruning, in the order of the files. Generated.
const std::vector<PrunerKind>& all_pruners();

}  // namespace retrace
