#include "retrace/optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/optim/schedule_kind.h"

namespace retrace {

LearnRate learn_rate(double initial, const Schedule& schedule, Place place) {
  const ScheduleKind& kind = kind_of(all_schedules(), schedule.name, "schedule", place);
  const OptionValues options = with_place(
      place, [&] { return completed(schedule.options, kind.options, fmt::format("schedule \"{}\"", kind.name)); });
  if (!(initial >= 0) || !std::isfinite(initial))
    throw Error(ErrorKind::usage, 187, fmt::format("learn_rate: initial is {}", initial))
        .where(place)
        .expected("0 or a positive number");
  return [&kind, options, initial](const ScheduleStep& at) {
    const FloatingPointScope floating_point;
    return kind.rate(initial, at, options);
  };
}

LearnRate composed(LearnRate first, int64_t iterations, LearnRate then, Place place) {
  if (iterations < 0)
    throw Error(ErrorKind::usage, 485, fmt::format("composed: iterations is {}", iterations))
        .where(place)
        .expected("0 or a positive number");
  return [first = std::move(first), iterations, then = std::move(then)](const ScheduleStep& at) {
    if (at.iteration < iterations) return first({at.iteration, std::min(iterations, at.iterations), at.epoch});
    return then({at.iteration - iterations, at.iterations - iterations, at.epoch});
  };
}

}  // namespace retrace
