#include "retrace/train/evaluate_network.h"

#include <algorithm>
#include <cmath>

#include "retrace/base/fp_environment.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

// Every n-th mini-batch of a store, in order, for this worker.
Datastore own_mini_batches(const Datastore& store, int64_t mini_batch_size, const Worker& worker) {
  if (worker.size() == 1) return store;
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < store.size(); ++i)
    if (i / mini_batch_size % worker.size() == worker.index()) indices.push_back(i);
  return store.subset(indices);
}

}  // namespace

std::vector<std::pair<std::string, const MetricKind*>> metrics_of(const nn::Network& network) {
  std::vector<std::pair<std::string, const MetricKind*>> found;
  for (size_t i = 0; i < network.outputs.size(); ++i) {
    const auto& output = network.outputs[i];
    if (output.metric.empty()) continue;
    const MetricKind& metric = metric_of(output);
    found.emplace_back(i == 0 ? metric.name : output.name + "_" + metric.name, &metric);
  }
  return found;
}

NetworkEvaluator::NetworkEvaluator(const nn::Network& network, const JobData& data, int64_t mini_batch_size,
                                   bool accelerated, Device& device)
    : network_(network),
      data_(data),
      mini_batch_size_(mini_batch_size),
      device_(device),
      predict_(accelerate<Predict>(
          [&network](const Tree& parameters, const Tree& state, const Tensor& x, const Tree& targets) {
            const Tree y = network.forward(x, parameters, state, Phase::inference).y;
            return Prediction{y, network.loss(y, targets)};
          },
          {.enabled = accelerated})) {
  for (const auto& output : network_.outputs) {
    metrics_.push_back(output.metric.empty() ? nullptr : &metric_of(output));
    if (metrics_.back()) width_ += static_cast<size_t>(metrics_.back()->sums);
  }
}

std::optional<std::vector<double>> NetworkEvaluator::measure(const Tree& parameters, const Tree& state,
                                                             const Worker& worker, const std::function<bool()>& stop) {
  if (!queue_)
    queue_.emplace(own_mini_batches(data_.test, mini_batch_size_, worker),
                   MiniBatchQueueOptions{.mini_batch_size = mini_batch_size_,
                                         .formats = data_.formats,
                                         .devices = {device_.name()},
                                         .outputs = static_cast<int>(data_.formats.size())});
  queue_->restore({});  // the same pass each time: transforms draw as before
  const auto& outputs = network_.outputs;
  std::vector<double> found;
  while (queue_->has_data()) {
    if (stop && stop()) return std::nullopt;
    const auto batch = queue_->next();
    const Tree targets = targets_of(network_, data_, batch);
    const auto [y, loss] = predict_(parameters, state, batch[0], targets);
    const auto samples = static_cast<double>(batch[0].shape()[0]);
    found.insert(found.end(), {loss.number() * samples, samples});
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (!metrics_[k]) continue;
      const auto sums = metrics_[k]->of_batch(y[outputs[k].name], targets[outputs[k].name]);
      found.insert(found.end(), sums.begin(), sums.end());
    }
  }
  return found;
}

NetworkScore NetworkEvaluator::operator()(const Tree& parameters, const Tree& state, const Worker& worker,
                                          const std::function<bool()>& stop) {
  const FloatingPointScope floating_point;
  const auto mine = measure(parameters, state, worker, stop);
  if (stop && worker.any(!mine)) return {.loss = std::nan(""), .metrics = {}, .complete = false};
  const auto parts = worker.all_gather(*mine);
  size_t batches = 0;
  for (const auto& part : parts) batches += part.size() / width_;
  std::vector<double> sums(width_);
  for (size_t i = 0; i < batches; ++i)
    for (size_t k = 0; k < width_; ++k) sums[k] += parts[i % parts.size()][i / parts.size() * width_ + k];
  NetworkScore score;
  score.loss = sums[1] > 0 ? sums[0] / sums[1] : 0;
  size_t at = 2;
  for (const auto& [name, metric] : metrics_of(network_)) {
    const auto count = static_cast<size_t>(metric->sums);
    score.metrics.emplace_back(name, metric->value(std::span(sums).subspan(at, count)));
    at += count;
  }
  return score;
}

}  // namespace retrace
