#pragma once
// What workers of one training must have in common.

#include "retrace/distributed/worker.h"
#include "retrace/train/job.h"
#include "retrace/train/job_data.h"

namespace retrace {

// The keys of the job that change bits, the data (what they hold, not where they lie) and the versions, as text. Costs
// milliseconds.
NamedValues job_digest(const Job& job, const JobData& data);

}  // namespace retrace
