#include <cmath>

#include "retrace/optim/schedule_kind.h"

namespace retrace {
namespace {

// initial * (1 + (max_factor - 1) * (1 - |2 * place - 1|)), where place is the part of the cycle that is over.
double rate_cyclic(double initial, const ScheduleStep& at, const OptionValues& options) {
  const int64_t cycle = options.integer("cycle_iterations");
  const double place = static_cast<double>(at.iteration % cycle) / static_cast<double>(cycle);
  return initial * (1 + (options.number("max_factor") - 1) * (1 - std::fabs(2 * place - 1)));
}

}  // namespace

ScheduleKind cyclic_schedule() {
  return {.name = "cyclic",
          .help = "rises to max_factor of the initial rate and falls back, in every cycle_iterations",
          .options = {{.name = "max_factor",
                       .help = "of the initial rate, in the middle of a cycle",
                       .standard = 10.0,
                       .high = 1e6,
                       .above_low = true},
                      {.name = "cycle_iterations",
                       .help = "steps of a cycle",
                       .standard = int64_t{1000},
                       .low = 1,
                       .high = 1'000'000'000}},
          .length = "cycle_iterations",
          .rate = rate_cyclic};
}

}  // namespace retrace
