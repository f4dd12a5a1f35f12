#pragma once
// Whether a job's data fit its network, known before anything is trained or written.

#include "retrace/train/job_data.h"

namespace retrace {

// Looks at both sets: observations as the network reads them, targets as its outputs, labels below the number of
// classes (all of them), at least one mini-batch to train on. Errors: bad_data with the file or the source; usage for a
// mini-batch that is larger than the training set.
void check_job_data(const Job& job, const nn::Network& network, const JobData& data);
// The same without the labels, of data that are not read.
void check_job_description(const Job& job, const nn::Network& network, const JobDescription& data);

}  // namespace retrace
