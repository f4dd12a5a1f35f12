#include "retrace/train/evaluate_network.h"

#include <algorithm>
#include <cmath>

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

NetworkScore evaluate_network(const nn::Network& network, const Tree& parameters, const Tree& state,
                              const JobData& data, int64_t mini_batch_size) {
  MiniBatchQueue queue(
      data.test,
      {.mini_batch_size = mini_batch_size, .formats = data.formats, .outputs = static_cast<int>(data.formats.size())});
  std::vector<double> sums(network.outputs.size());
  std::vector<int64_t> counts(network.outputs.size());
  double loss = 0;
  int64_t samples = 0;
  while (queue.has_data()) {
    const auto batch = queue.next();
    Tree targets;
    for (size_t i = 0; i < network.outputs.size(); ++i) targets[network.outputs[i]] = batch[i + 1];
    const Tree y = network.model(parameters, batch[0], state, Phase::inference).y;
    const Tensor batch_loss = network.loss(y, targets);
    evaluate();
    const int64_t n = batch[0].shape()[0];
    samples += n;
    loss += batch_loss.number() * static_cast<double>(n);
    for (size_t i = 0; i < network.outputs.size(); ++i) {
      const Tensor& output = y[network.outputs[i]];
      if (network.outputs[i] == "class") {
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
    if (network.outputs[i] == "class")
      score.metrics.emplace_back("accuracy", mean);
    else
      score.metrics.emplace_back(network.outputs[i] == "angle" ? "angle_rmse" : "rmse", std::sqrt(mean));
  }
  return score;
}

}  // namespace retrace
