#include "retrace/base/double_math.h"
#include "retrace/optim/schedule_kind.h"

namespace retrace {
namespace {

constexpr double kPi = 3.14159265358979323846;

// initial * (final_factor + (1 - final_factor) * (1 + cos(pi * iteration / iterations)) / 2)
double rate_cosine(double initial, const ScheduleStep& at, const OptionValues& options) {
  const double last = options.number("final_factor");
  const double share = static_cast<double>(at.iteration) / static_cast<double>(at.iterations);
  return initial * (last + (1 - last) * (0.5 * (1 + double_math::cos(kPi * share))));
}

}  // namespace

ScheduleKind cosine_schedule() {
  return {.name = "cosine",
          .help = "falls along half a cosine to final_factor of the initial rate over all iterations",
          .options = {{.name = "final_factor", .help = "of the initial rate, at the end", .standard = 0.0, .high = 1}},
          .rate = rate_cosine};
}

}  // namespace retrace
