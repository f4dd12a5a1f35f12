#pragma once
// Schedules by name: retrace/optim/schedules/NAME.cpp defines `ScheduleKind NAME_schedule()`.

#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/optim/schedule.h"

namespace retrace {

struct ScheduleKind {
  std::string name;
  std::string_view help;  // one line
  std::vector<OptionRule> options = {};
  // Its option that says after how many iterations another schedule may follow; empty: it has none.
  std::string length = {};
  // The rate of a step, in binary64, for complete options.
  std::function<double(double initial, const ScheduleStep& at, const OptionValues& options)> rate;
};

// The names in the name of a Schedule, in their order: one at least.
std::vector<std::string> schedule_names(std::string_view names);
// What several schedules have beside the options of each.
const std::vector<OptionRule>& sequence_options();
// The options that the schedules have together, each once; of several also sequence_options(). Throws Error(usage) for
// an unknown name.
std::vector<OptionRule> schedule_options(std::string_view names, Place place = {});
// The iterations of each schedule but the last, for complete options. Throws Error(usage) unless each has a length.
std::vector<int64_t> schedule_lengths(std::string_view names, const OptionValues& options);

// Every schedule, in the order of the files. Generated.
const std::vector<ScheduleKind>& all_schedules();

}  // namespace retrace
