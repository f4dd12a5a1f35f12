#include "retrace/optim/schedule_kind.h"

namespace retrace {
namespace {

// initial * min(1, (iteration + 1) / warm_up_iterations)
double rate_warm_up(double initial, const ScheduleStep& at, const OptionValues& options) {
  const int64_t steps = options.integer("warm_up_iterations");
  return at.iteration + 1 >= steps ? initial
                                   : initial * (static_cast<double>(at.iteration + 1) / static_cast<double>(steps));
}

}  // namespace

ScheduleKind warm_up_schedule() {
  return {.name = "warm-up",
          .help = "rises in equal parts over warm_up_iterations, then stays",
          .options = {{.name = "warm_up_iterations",
                       .help = "steps until the rate is the initial one",
                       .standard = int64_t{100},
                       .low = 1,
                       .high = 1'000'000'000}},
          .length = "warm_up_iterations",
          .rate = rate_warm_up};
}

}  // namespace retrace
