#include <algorithm>

#include "retrace/train/metric_kind.h"

namespace retrace {
namespace {

// Right answers and samples; the first of equal scores counts.
std::vector<double> of_batch(const Tensor& scores, const Tensor& labels) {
  const auto y = scores.to_vector<float>();
  const auto t = labels.to_vector<int32_t>();
  const int64_t classes = scores.shape().back();
  int64_t right = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    const auto row = y.begin() + static_cast<int64_t>(i) * classes;
    right += std::max_element(row, row + classes) - row == t[i];
  }
  return {static_cast<double>(right), static_cast<double>(t.size())};
}

}  // namespace

MetricKind accuracy_metric() {
  return {.name = "accuracy",
          .help = "part of the samples whose highest score is that of their class",
          .outputs = {nn::OutputKind::class_scores},
          .larger_is_better = true,
          .of_batch = of_batch,
          .value = [](std::span<const double> sums) { return mean_of(sums[0], sums[1]); }};
}

}  // namespace retrace
