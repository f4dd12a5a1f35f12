#pragma once
// From flags to the overrides of a job.

#include <vector>

#include "retrace/cli/cli.h"
#include "retrace/train/job.h"

namespace retrace::cli {

// The flags come after --set, so that they win. Throws Error(usage) for all settings without '=' at once.
std::vector<JobOverride> overrides_of(const JobSettings& settings);

}  // namespace retrace::cli
