#pragma once
// A network on a test set.

#include "retrace/monitor/event.h"
#include "retrace/train/job_data.h"

namespace retrace {

struct NetworkScore {
  double loss = 0;       // mean over samples of the mini-batches' losses
  MetricValues metrics;  // accuracy (fraction) of "class"; angle_rmse (degrees) of "angle"; rmse of any other output
};

// Inference over the whole test set, the last mini-batch kept. Sums are taken in the order of the samples, in binary64.
NetworkScore evaluate_network(const nn::Network& network, const Tree& parameters, const Tree& state,
                              const JobData& data, int64_t mini_batch_size);

}  // namespace retrace
