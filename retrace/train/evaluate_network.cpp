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
                                   bool accelerated)
    : network_(network),
      data_(data),
      mini_batch_size_(mini_batch_size),
      predict_(accelerate<Predict>(
          [&network](const Tree& parameters, const Tree& state, const Tensor& x, const Tree& targets) {
            const Tree y = network.model(parameters, x, state, Phase::inference).y;
            return Prediction{y, network.loss(y, targets)};
          },
          {.enabled = accelerated})) {}

NetworkScore NetworkEvaluator::operator()(const Tree& parameters, const Tree& state) const {
  const FloatingPointScope floating_point;
  MiniBatchQueue queue(data_.test, {.mini_batch_size = mini_batch_size_,
                                    .formats = data_.formats,
                                    .outputs = static_cast<int>(data_.formats.size())});
  const auto& outputs = network_.outputs;
  std::vector<double> sums(outputs.size());
  std::vector<int64_t> counts(outputs.size());
  double loss = 0;
  int64_t samples = 0;
  while (queue.has_data()) {
    const auto batch = queue.next();
    Tree targets;
    for (size_t i = 0; i < outputs.size(); ++i) targets[outputs[i]] = batch[i + 1];
    const auto [y, batch_loss] = predict_(parameters, state, batch[0], targets);
    const int64_t n = batch[0].shape()[0];
    samples += n;
    loss += batch_loss.number() * static_cast<double>(n);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& output = y[outputs[i]];
      if (outputs[i] == "class") {
        sums[i] += static_cast<double>(count_right(output, batch[i + 1]));
        counts[i] += n;
      } else {
        sums[i] += square_error(output, batch[i + 1]);
        counts[i] += output.size();
      }
    }
  }
  NetworkScore score;
  score.loss = samples ? loss / static_cast<double>(samples) : 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double mean = counts[i] ? sums[i] / static_cast<double>(counts[i]) : 0;
    if (outputs[i] == "class")
      score.metrics.emplace_back("accuracy", mean);
    else
      score.metrics.emplace_back(outputs[i] == "angle" ? "angle_rmse" : "rmse", std::sqrt(mean));
  }
  return score;
}

}  // namespace retrace
