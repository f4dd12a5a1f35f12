#include "retrace/train/evaluate_network.h"

#include <algorithm>
#include <cmath>

#include "retrace/base/fp_environment.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

int64_t count_right(const Tensor& scores, const Tensor& labels) {
  const auto y = scores.to_vector<float>();
  const auto t = labels.to_vector<int32_t>();
  const int64_t classes = scores.shape().back();
  int64_t right = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    const auto row = y.begin() + static_cast<int64_t>(i) * classes;
    right += std::max_element(row, row + classes) - row == t[i];
  }
  return right;
}

double square_error(const Tensor& y, const Tensor& t) {
  const auto a = y.to_vector<float>(), b = t.to_vector<float>();
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
  }
  return sum;
}

}  // namespace

NetworkEvaluator::NetworkEvaluator(const nn::Network& network, const JobData& data, int64_t mini_batch_size,
                                   bool accelerated, Device& device)
    : network_(network),
      data_(data),
      mini_batch_size_(mini_batch_size),
      device_(device),
      predict_(accelerate<Predict>(
          [&network](const Tree& parameters, const Tree& state, const Tensor& x, const Tree& targets) {
            const Tree y = network.model(parameters, x, state, Phase::inference).y;
            return Prediction{y, network.loss(y, targets)};
          },
          {.enabled = accelerated})) {}

std::optional<std::vector<double>> NetworkEvaluator::measure(const Tree& parameters, const Tree& state,
                                                             const Worker& worker,
                                                             const std::function<bool()>& stop) const {
  MiniBatchQueue queue(data_.test, {.mini_batch_size = mini_batch_size_,
                                    .formats = data_.formats,
                                    .devices = {device_.name()},
                                    .outputs = static_cast<int>(data_.formats.size())});
  const auto& outputs = network_.outputs;
  std::vector<double> found;
  QueuePosition position = queue.position();
  for (int64_t i = worker.index(); i < queue.mini_batches(); i += worker.size()) {
    if (stop && stop()) return std::nullopt;
    position.next = i * mini_batch_size_;
    queue.restore(position);
    const auto batch = queue.next();
    Tree targets;
    for (size_t k = 0; k < outputs.size(); ++k) targets[outputs[k]] = batch[k + 1];
    const auto [y, loss] = predict_(parameters, state, batch[0], targets);
    const auto samples = static_cast<double>(batch[0].shape()[0]);
    found.insert(found.end(), {loss.number() * samples, samples});
    for (size_t k = 0; k < outputs.size(); ++k) {
      const Tensor& output = y[outputs[k]];
      if (outputs[k] == "class")
        found.insert(found.end(), {static_cast<double>(count_right(output, batch[k + 1])), samples});
      else
        found.insert(found.end(), {square_error(output, batch[k + 1]), static_cast<double>(output.size())});
    }
  }
  return found;
}

NetworkScore NetworkEvaluator::operator()(const Tree& parameters, const Tree& state, const Worker& worker,
                                          const std::function<bool()>& stop) const {
  const FloatingPointScope floating_point;
  const auto mine = measure(parameters, state, worker, stop);
  if (stop && worker.any(!mine)) return {.loss = std::nan(""), .metrics = {}, .complete = false};
  const auto parts = worker.all_gather(*mine);
  const auto& outputs = network_.outputs;
  const size_t width = 2 + 2 * outputs.size();  // numbers of a mini-batch
  size_t batches = 0;
  for (const auto& part : parts) batches += part.size() / width;
  std::vector<double> sums(width);
  for (size_t i = 0; i < batches; ++i)
    for (size_t k = 0; k < width; ++k) sums[k] += parts[i % parts.size()][i / parts.size() * width + k];
  NetworkScore score;
  score.loss = sums[1] > 0 ? sums[0] / sums[1] : 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const double count = sums[3 + 2 * i], mean = count > 0 ? sums[2 + 2 * i] / count : 0;
    if (outputs[i] == "class")
      score.metrics.emplace_back("accuracy", mean);
    else
      score.metrics.emplace_back(outputs[i] == "angle" ? "angle_rmse" : "rmse", std::sqrt(mean));
  }
  return score;
}

}  // namespace retrace
