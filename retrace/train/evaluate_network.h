#pragma once
// A network on a test set.

#include <functional>
#include <optional>
#include <vector>

#include "retrace/data/mini_batch_queue.h"
#include "retrace/distributed/worker.h"
#include "retrace/monitor/monitor.h"
#include "retrace/run/accelerate.h"
#include "retrace/train/job_data.h"
#include "retrace/train/metric_kind.h"

namespace retrace {

struct NetworkScore {
  double loss = 0;  // mean over samples of the mini-batches' losses
  // Of the metrics of each output, by their names: Metric::name.
  MetricValues metrics;
  MetricTables tables = {};
  bool complete = true;  // false: stopped before the end, and nothing was measured
};

// Inference over the whole test set on a device, where parameters and state are, the last mini-batch kept. Losses are
// added in the order of the mini-batches, in binary64; metrics are as their files say. Network and data must outlive
// it.
class NetworkEvaluator {
 public:
  // Errors: as metrics_of().
  NetworkEvaluator(const nn::Network& network, const JobData& data, int64_t mini_batch_size, bool accelerated,
                   Device& device = cpu_device(), const MetricChoice& metrics = {});
  // Each worker computes every n-th mini-batch; all of them must call it, always as the same worker. `stop` is asked
  // before each one; when any worker's says true, nothing is measured.
  NetworkScore operator()(const Tree& parameters, const Tree& state, const Worker& worker = Worker(),
                          const std::function<bool()>& stop = {});

 private:
  // Of mini-batches: for each its loss times its samples, its samples, and of each metric how many numbers it has, the
  // width of its output, its samples, and the numbers. None if it was stopped.
  std::optional<std::vector<double>> measure(const Tree& parameters, const Tree& state, const Worker& worker,
                                             const std::function<bool()>& stop);
  void add_numbers(const Tree& y, const Tree& targets, std::vector<double>& found) const;
  NetworkScore score_of(const std::vector<std::vector<double>>& parts) const;
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
  std::vector<Metric> metrics_;
  AcceleratedFunction<Predict> predict_;
  std::optional<MiniBatchQueue> queue_;  // of this worker's mini-batches, from the first call on
};

}  // namespace retrace
