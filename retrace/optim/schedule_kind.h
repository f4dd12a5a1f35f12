#pragma once
// Schedules by name: retrace/optim/schedules/NAME.cpp defines `ScheduleKind NAME_schedule()`.

#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/optim/schedule.h"

namespace retrace {

struct ScheduleKind {
  std::string name;
  std::string help;  // one line
  std::vector<OptionRule> options = {};
  // The rate of a step, in binary64, for complete options.
  std::function<double(double initial, const ScheduleStep& at, const OptionValues& options)> rate;
};

// Every schedule, in the order of the files. Generated.
const std::vector<ScheduleKind>& all_schedules();

}  // namespace retrace
