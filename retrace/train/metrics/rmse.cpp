#include <cmath>

#include "retrace/train/metric_kind.h"

namespace retrace {
namespace {

// The sum of the squares of all differences, and their number.
std::vector<double> of_batch(const Tensor& y, const Tensor& target) {
  const auto a = y.to_vector<float>(), b = target.to_vector<float>();
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return {sum, static_cast<double>(a.size())};
}

}  // namespace

MetricKind rmse_metric() {
  return {.name = "rmse",
          .help = "root of the mean square of the differences",
          .outputs = {nn::OutputKind::image, nn::OutputKind::values},
          .of_batch = of_batch,
          .value = [](std::span<const double> sums) { return std::sqrt(mean_of(sums[0], sums[1])); }};
}

}  // namespace retrace
