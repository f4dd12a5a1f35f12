#include "retrace/optim/schedule_kind.h"

namespace retrace {

// initial * (1 - iteration / iterations)
ScheduleKind linear_schedule() {
  return {.name = "linear",
          .help = "falls to 0 over all iterations",
          .rate = [](double initial, const ScheduleStep& at, const OptionValues&) {
            return initial * (1.0 - static_cast<double>(at.iteration) / static_cast<double>(at.iterations));
          }};
}

}  // namespace retrace
