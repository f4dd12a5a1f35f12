#pragma once
// What is wrong with a job's training, as far as its solver says it; used by job*.cpp.

#include "retrace/train/job_check.h"

namespace retrace {

// Options of groups of parameters; what has no meaning for a solver that looks at all data in each step. Patterns of
// groups are compared with the parameters of the network when that is made: check_groups().
std::vector<Error> find_solver_mistakes(const TrainingOptions& training, const GivenKeys& given);

}  // namespace retrace
