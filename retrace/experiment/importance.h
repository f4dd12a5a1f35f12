#pragma once
// Which parameters the result of an experiment depends on.

#include <string>
#include <vector>

#include "retrace/experiment/trial_table.h"

namespace retrace {

struct Importance {
  std::string parameter;
  // Of the variance of the objective's ranks, as a Gaussian process of the trials sees them, what this parameter
  // explains by itself: from 0 to 1. What is left to 1 lies in parameters that act together.
  double share = 0;
};

// The largest first; nothing before five trials have a value, or where all are equal. Of more than 200 trials the last
// 200 count. Equal tables give equal bits.
std::vector<Importance> importance(const TrialTable& table);

}  // namespace retrace
