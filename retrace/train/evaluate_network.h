#pragma once
// A network on a test set.

#include <functional>
#include <optional>
#include <vector>

#include "retrace/data/mini_batch_queue.h"
#include "retrace/distributed/worker.h"
#include "retrace/monitor/event.h"
#include "retrace/run/accelerate.h"
#include "retrace/train/job_data.h"
#include "retrace/train/metric_kind.h"

namespace retrace {

struct NetworkScore {
  double loss = 0;  // mean over samples of the mini-batches' losses
  // Of each output: the name of its metric; of all but the first output with the output's name before it
  // ("angle_rmse").
  MetricValues metrics;
  bool complete = true;  // false: stopped before the end, and nothing was measured
};

// The metrics of a network, under the names that they have in a score.
std::vector<std::pair<std::string, const MetricKind*>> metrics_of(const nn::Network& network);

// Inference over the whole test set on a device, where parameters and state are, the last mini-batch kept. Sums are
// taken in the order of the samples, in binary64. Network and data must outlive it.
class NetworkEvaluator {
 public:
  NetworkEvaluator(const nn::Network& network, const JobData& data, int64_t mini_batch_size, bool accelerated,
                   Device& device = cpu_device());
  // Each worker computes every n-th mini-batch; all of them must call it, always as the same worker. `stop` is asked
  // before each one; when any worker's says true, nothing is measured.
  NetworkScore operator()(const Tree& parameters, const Tree& state, const Worker& worker = Worker(),
                          const std::function<bool()>& stop = {});

 private:
  // Of mini-batches: for each its loss times its samples, its samples, and the sums of each output's metric. None if it
  // was stopped.
  std::optional<std::vector<double>> measure(const Tree& parameters, const Tree& state, const Worker& worker,
                                             const std::function<bool()>& stop);
  struct Prediction {
    Tree y;
    Tensor loss;
  };
  using Predict =
      std::function<Prediction(const Tree& parameters, const Tree& state, const Tensor& x, const Tree& targets)>;
  const nn::Network& network_;
  const JobData& data_;
  int64_t mini_batch_size_;
  Device& device_;
  std::vector<const MetricKind*> metrics_;  // of the outputs; null: none
  size_t width_ = 2;                        // numbers of a mini-batch
  AcceleratedFunction<Predict> predict_;
  std::optional<MiniBatchQueue> queue_;  // of this worker's mini-batches, from the first call on
};

}  // namespace retrace
