#include "retrace/optim/schedule_kind.h"

namespace retrace {
namespace {

// initial * drop_factor for each drop_period epochs that are over, one rounding a drop.
double rate_piecewise(double initial, const ScheduleStep& at, const OptionValues& options) {
  const double factor = options.number("drop_factor");
  const int64_t period = options.integer("drop_period");
  double rate = initial;
  for (int64_t drop = period; drop < at.epoch; drop += period) rate *= factor;
  return rate;
}

}  // namespace

ScheduleKind piecewise_schedule() {
  return {.name = "piecewise",
          .help = "is multiplied by drop_factor after every drop_period epochs",
          .options = {{.name = "drop_factor", .help = "of each drop", .standard = 0.1, .high = 1, .above_low = true},
                      {.name = "drop_period",
                       .help = "epochs from drop to drop",
                       .standard = int64_t{10},
                       .low = 1,
                       .high = 1'000'000'000}},
          .rate = rate_piecewise};
}

}  // namespace retrace
