#pragma once
// Strategies by name: retrace/experiment/strategies/NAME.cpp defines `StrategyKind NAME_strategy()`.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/experiment/search_space.h"

namespace retrace {

// A trial whose result may be used.
struct KnownTrial {
  SearchSpace::Point point;
  double value = 0;  // smaller is better; infinity: the trial failed, or its value is no number
};

// What a suggestion may depend on.
struct StrategyView {
  const SearchSpace& space;
  uint64_t seed = 0;
  int64_t number = 1;                            // of the trial that is suggested
  bool pruned = false;                           // trials end early, by what earlier ones were worth
  std::vector<KnownTrial> known = {};            // by their numbers
  std::vector<SearchSpace::Point> pending = {};  // of trials before this one whose results are not used yet
};

struct StrategyKind {
  std::string name;
  std::string_view help;                 // one line
  std::vector<OptionRule> options = {};  // keys of [strategy]
  bool uses_results = false;             // else `known` and `pending` are empty, and no trial waits for others
  bool all = false;                      // trials = 0 means as many as there are
  // The point of a trial, which satisfies the constraints; nothing: there are no more points. A pure function.
  std::function<std::optional<SearchSpace::Point>(const StrategyView& view, const OptionValues& options)> suggest;
};

// Every strategy, in the order of the files. Generated.
const std::vector<StrategyKind>& all_strategies();

}  // namespace retrace
