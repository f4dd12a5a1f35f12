#include "retrace/optim/schedule_kind.h"

namespace retrace {

ScheduleKind none_schedule() {
  return {.name = "none",
          .help = "always the same rate",
          .rate = [](double initial, const ScheduleStep&, const OptionValues&) { return initial; }};
}

}  // namespace retrace
