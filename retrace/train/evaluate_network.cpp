#include "retrace/train/evaluate_network.h"

#include <algorithm>
#include <cmath>

#include "retrace/base/fp_environment.h"
#include "retrace/trace/record.h"
#include "retrace/train/padding_cut.h"

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

// The numbers of a metric, of the mini-batches so far.
struct MetricSums {
  std::vector<double> numbers;
  int64_t width = 0, samples = 0;

  void add(std::span<const double> of_batch, bool by_sample) {
    if (by_sample) {
      numbers.insert(numbers.end(), of_batch.begin(), of_batch.end());
      return;
    }
    numbers.resize(of_batch.size());
    for (size_t i = 0; i < of_batch.size(); ++i) numbers[i] += of_batch[i];
  }
};

}  // namespace

NetworkEvaluator::NetworkEvaluator(const nn::Network& network, const JobData& data, int64_t mini_batch_size,
                                   bool accelerated, Device& device, const MetricChoice& metrics)
    : network_(network),
      data_(data),
      mini_batch_size_(mini_batch_size),
      device_(device),
      metrics_(metrics_of(network.outputs, metrics)),
      predict_(accelerate<Predict>(
          [&network](const Tree& parameters, const Tree& state, const Tensor& x, const Tree& targets) {
            const Tree y = network.forward(x, parameters, state, Phase::inference).y;
            return Prediction{y, network.loss(y, targets)};
          },
          {.enabled = accelerated})) {}

void NetworkEvaluator::add_numbers(const Tree& y, const Tree& targets, std::vector<double>& found) const {
  std::optional<MetricBatch> batch;
  size_t output_of_batch = 0;
  for (const auto& metric : metrics_) {
    const auto& output = network_.outputs[metric.output];
    const Tensor own = y[output.name], target = targets[output.name];
    const bool from_tensors = metric.kind->of_tensors != nullptr;
    if (!from_tensors && (!batch || output_of_batch != metric.output)) {
      batch = metric_batch(output.kind, own, target);
      output_of_batch = metric.output;
    }
    const auto numbers =
        from_tensors ? metric.kind->of_tensors(own, target) : metric.kind->of_batch(*batch, metric.options);
    const auto size = static_cast<int64_t>(numbers.size());
    const int64_t samples = from_tensors ? own.shape()[0] : batch->samples;
    const int64_t width = from_tensors ? size / samples : batch->width;
    found.insert(found.end(), {static_cast<double>(size), static_cast<double>(width), static_cast<double>(samples)});
    found.insert(found.end(), numbers.begin(), numbers.end());
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
  std::vector<double> found;
  while (queue_->has_data()) {
    if (stop && stop()) return std::nullopt;
    const auto batch = queue_->next(Place());
    const Tree targets = targets_of(network_, data_, batch);
    const auto [y, loss] = predict_(parameters, state, without_padding(batch[0], data_.padding), targets);
    const auto samples = static_cast<double>(batch[0].shape()[0]);
    found.insert(found.end(), {loss.number() * samples, samples});
    add_numbers(y, targets, found);
  }
  return found;
}

NetworkScore NetworkEvaluator::operator()(const Tree& parameters, const Tree& state, const Worker& worker,
                                          const std::function<bool()>& stop) {
  const FloatingPointScope floating_point;
  const auto mine = measure(parameters, state, worker, stop);
  if (stop && worker.any(!mine)) return {.loss = std::nan(""), .metrics = {}, .complete = false};
  const auto parts = worker.all_gather(*mine);
  return score_of(parts);
}

NetworkScore NetworkEvaluator::score_of(const std::vector<std::vector<double>>& parts) const {
  std::vector<MetricSums> sums(metrics_.size());
  std::vector<size_t> places(parts.size());
  double loss = 0, samples = 0;
  for (size_t worker = 0; places[worker] < parts[worker].size(); worker = (worker + 1) % parts.size()) {
    const double* next = parts[worker].data() + places[worker];
    const double count = next[1];
    loss += next[0], samples += count;
    next += 2;
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto size = static_cast<size_t>(*next++);
      sums[i].width = static_cast<int64_t>(*next++);
      sums[i].samples += static_cast<int64_t>(*next++);
      sums[i].add(std::span(next, size), metrics_[i].kind->by_sample);
      next += size;
    }
    places[worker] = static_cast<size_t>(next - parts[worker].data());
  }
  NetworkScore score;
  score.loss = samples > 0 ? loss / samples : 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto& [name, kind, output, options] = metrics_[i];
    const MetricNumbers all{sums[i].numbers, sums[i].samples, sums[i].width};
    if (kind->table)
      score.tables.emplace_back(name, samples > 0 ? kind->table(all) : MetricTable());
    else
      score.metrics.emplace_back(name, samples > 0 ? kind->value(all, options) : 0);
  }
  return score;
}

}  // namespace retrace
