#include "retrace/base/double_math.h"
#include "retrace/optim/schedule_kind.h"

namespace retrace {
namespace {

// initial * (final_factor + (1 - final_factor) * (1 - iteration / iterations)^power)
double rate_polynomial(double initial, const ScheduleStep& at, const OptionValues& options) {
  const double last = options.number("final_factor");
  const double left = 1 - static_cast<double>(at.iteration) / static_cast<double>(at.iterations);
  return initial * (last + (1 - last) * double_math::pow(left, options.number("power")));
}

}  // namespace

ScheduleKind polynomial_schedule() {
  return {.name = "polynomial",
          .help = "falls by a power of what is left to final_factor of the initial rate over all iterations",
          .options = {{.name = "power",
                       .help = "of the iterations that are left",
                       .standard = 2.0,
                       .high = 100,
                       .above_low = true},
                      {.name = "final_factor", .help = "of the initial rate, at the end", .standard = 0.0, .high = 1}},
          .rate = rate_polynomial};
}

}  // namespace retrace
