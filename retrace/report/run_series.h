#pragma once
// The curves of a run folder.

#include <filesystem>
#include <memory>

#include "retrace/report/series.h"

namespace retrace {

// metrics.jsonl and steps.jsonl of a run, also of one that goes on: a torn last line is waited for, a file that a
// resume cut back is read anew. x is the iteration. Names:
//   loss, learn_rate    of each step
//   epoch_loss          the mean over the steps of each complete epoch
//   validation_loss     of each validation
//   validation/NAME     a metric of the validations
//   NAME                a metric that a loop of a program recorded (retrace/web/progress_monitor.h)
// null is NaN. A line that is no event or no step is left out. It has read nothing before its first refresh(). Errors:
// missing, for a folder that holds no run.
std::unique_ptr<SeriesSource> run_series(const std::filesystem::path& run);

// Throws Error(missing) unless the folder holds metrics.jsonl or is a run folder.
void check_has_series(const std::filesystem::path& run);

}  // namespace retrace
