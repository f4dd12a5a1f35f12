#pragma once
// What is wrong with a job's groups of parameters, as far as the solver says it; used by job*.cpp. Their patterns are
// compared with the parameters of the network when that is made: check_groups().

#include "retrace/train/job_check.h"

namespace retrace {

std::vector<Error> find_group_mistakes(const TrainingOptions& training);

}  // namespace retrace
