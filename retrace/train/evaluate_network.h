#pragma once
// A network on a test set.

#include "retrace/monitor/event.h"
#include "retrace/run/accelerate.h"
#include "retrace/train/job_data.h"

namespace retrace {

struct NetworkScore {
  double loss = 0;       // mean over samples of the mini-batches' losses
  MetricValues metrics;  // accuracy (fraction) of "class"; angle_rmse (degrees) of "angle"; rmse of any other output
};

// Inference over the whole test set, the last mini-batch kept. Sums are taken in the order of the samples, in binary64.
// Network and data must outlive it.
class NetworkEvaluator {
 public:
  NetworkEvaluator(const nn::Network& network, const JobData& data, int64_t mini_batch_size, bool accelerated);
  NetworkScore operator()(const Tree& parameters, const Tree& state) const;

 private:
  struct Prediction {
    Tree y;
    Tensor loss;
  };
  using Predict =
      std::function<Prediction(const Tree& parameters, const Tree& state, const Tensor& x, const Tree& targets)>;
  const nn::Network& network_;
  const JobData& data_;
  int64_t mini_batch_size_;
  AcceleratedFunction<Predict> predict_;
};

}  // namespace retrace
