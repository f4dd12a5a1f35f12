#include "retrace/train/metric_kind.h"

namespace retrace {
namespace {

// Of each sample, feature by feature: the target, and the square of the difference.
std::vector<double> of_batch_r2(const MetricBatch& batch, const OptionValues&) {
  std::vector<double> rows;
  rows.reserve(2 * batch.y.size());
  for (size_t i = 0; i < batch.y.size(); ++i) {
    const double target = static_cast<double>(batch.targets[i]), difference = static_cast<double>(batch.y[i]) - target;
    rows.push_back(target);
    rows.push_back(difference * difference);
  }
  return rows;
}

double of_feature(const MetricNumbers& all, size_t feature) {
  const auto row = static_cast<size_t>(2 * all.width);
  const auto numbers = all.numbers.subspan(2 * feature);
  double sum = 0, left = 0, total = 0;
  for (size_t i = 0; i < numbers.size(); i += row) sum += numbers[i], left += numbers[i + 1];
  const double mean = sum / static_cast<double>(all.samples);
  for (size_t i = 0; i < numbers.size(); i += row) total += (numbers[i] - mean) * (numbers[i] - mean);
  if (total == 0) return left == 0 ? 1 : 0;
  return 1 - left / total;
}

double value_r2(const MetricNumbers& all, const OptionValues&) {
  double sum = 0;
  for (size_t feature = 0; feature < static_cast<size_t>(all.width); ++feature) sum += of_feature(all, feature);
  return sum / static_cast<double>(all.width);
}

}  // namespace

// 1 - sum (y - t)^2 / sum (t - mean t)^2 over the samples, for each feature, and the mean over the features; of a
// feature whose targets are all equal 1 if y is equal to them, else 0. Sums are taken in the order of the samples.
MetricKind r2_metric() {
  return {.name = "r2",
          .help = "coefficient of determination: 1 is perfect, 0 is as good as the mean of the targets",
          .outputs = {nn::OutputKind::values, nn::OutputKind::series_values},
          .larger_is_better = true,
          .by_sample = true,
          .of_batch = of_batch_r2,
          .value = value_r2};
}

}  // namespace retrace
