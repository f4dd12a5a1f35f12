#pragma once
// Whether a job's data fit its network, known before anything is trained or written.

#include "retrace/train/job_data.h"

namespace retrace {

// Looks at both sets: observations as the network reads them, targets as its outputs, labels below the number of
// classes (all of them), at least one mini-batch to train on. Errors: bad_data with the file or the source; usage for a
// mini-batch that is larger than the training set.
void check_job_data(const Job& job, const nn::Network& network, const JobData& data);
// The same of the test set alone.
void check_test_data(const Job& job, const nn::Network& network, const JobData& data);
// The same of both without the labels, of data that are not read.
void check_job_description(const Job& job, const nn::Network& network, const JobDescription& data);

// What data are called in messages.
struct DataNames {
  std::string train = "training", test = "test";
  std::function<std::string(Split split, size_t variable)> place;
};
// The same of data from anywhere; `tested`: there is a test set. Of an output without a loss by name any target fits.
void check_data(const nn::Network& network, const JobData& data, const TrainingOptions& training,
                const DataNames& names, bool tested = true);

// The shapes of the network's outputs for one sample, by recording it; `format`: the labels of its inputs.
std::vector<Shape> output_shapes(const nn::Network& network, const std::string& format);

}  // namespace retrace
