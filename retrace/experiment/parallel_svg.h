#pragma once
// Trials as a picture.

#include <string>

#include "retrace/experiment/trial_table.h"

namespace retrace {

// Parallel coordinates as SVG: an axis for each parameter and one for the objective, a line for each trial that has a
// value. The darker a line the better its trial; the best one is bold. Axes of positive numbers over more than a factor
// of 50 are logarithmic. Error(missing) where no trial has a value.
std::string parallel_svg(const TrialTable& table);

}  // namespace retrace
