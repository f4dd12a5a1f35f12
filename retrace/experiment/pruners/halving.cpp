#include <algorithm>

#include "retrace/experiment/pruner_kind.h"

namespace retrace {
namespace {

// Rungs are the steps first_step, first_step * factor, ... On each, a trial goes on if it is among the best
// 1 / factor of those that have come there.
bool prune_halving(const PruningView& view, const OptionValues& options) {
  const int64_t factor = options.integer("factor"), step = view.own.back().step;
  int64_t rung = options.integer("first_step");
  while (rung < step) rung *= factor;
  if (rung != step) return false;
  const auto own = best_until(view.own, step);
  int64_t trials = 1, better = 0;
  for (const auto& other : view.others)
    if (const auto best = best_until(other, step)) {
      ++trials;
      better += own ? *best <= *own : 1;
    }
  return trials >= factor && better >= (trials + factor - 1) / factor;
}

}  // namespace

PrunerKind halving_pruner() {
  return {.name = "halving",
          .help = "on steps of a geometric series only the best part of the trials so far goes on",
          .options = {{.name = "first_step",
                       .help = "the first step at which trials end",
                       .standard = int64_t{1},
                       .low = 1,
                       .high = 1e9},
                      {.name = "factor",
                       .help = "from one such step to the next, and the part of the trials that goes on: 1 / factor",
                       .standard = int64_t{3},
                       .low = 2,
                       .high = 1000}},
          .prune = prune_halving};
}

}  // namespace retrace
