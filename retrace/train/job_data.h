#pragma once
// The data of a job as stores: the input first, then one variable for each output of the network.

#include <filesystem>

#include "retrace/data/datastore.h"
#include "retrace/data/image_set.h"
#include "retrace/nn/networks.h"
#include "retrace/train/job.h"

namespace retrace {

struct JobData {
  Datastore train, test;
  std::vector<std::string> formats;  // of a queue over them
};

// Both sets, which fit the network. Errors: of reading; as check_job_data().
JobData load_job_data(const Job& job, const nn::Network& network);
nn::Network make_job_network(const Job& job);
// Images as the digits network reads them: f32 [n,28,28,1] "BSSC" from 0 to 1.
Tensor image_batch(const ImageSet& images, int64_t first, int64_t count);

}  // namespace retrace
