#include <algorithm>

#include "retrace/experiment/pruner_kind.h"

namespace retrace {
namespace {

// The best value of the trial so far is worse than the median of the best values of the others at the same step.
bool prune_median(const PruningView& view, const OptionValues& options) {
  const int64_t step = view.own.back().step;
  if (step <= options.integer("warm_up_steps")) return false;
  std::vector<double> values;
  for (const auto& other : view.others)
    if (const auto best = best_until(other, step)) values.push_back(*best);
  if (static_cast<int64_t>(values.size()) < std::max<int64_t>(options.integer("least_trials"), 1)) return false;
  const auto own = best_until(view.own, step);
  if (!own) return true;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return *own > median;
}

}  // namespace

PrunerKind median_pruner() {
  return {.name = "median",
          .help = "a trial ends that is worse than the median of earlier trials at the same step",
          .options = {{.name = "warm_up_steps",
                       .help = "steps after which no trial ends",
                       .standard = int64_t{0},
                       .low = 0,
                       .high = 1e9},
                      {.name = "least_trials",
                       .help = "earlier trials that have come to the step, one at least",
                       .standard = int64_t{4},
                       .low = 1,
                       .high = 1e6}},
          .prune = prune_median};
}

}  // namespace retrace
