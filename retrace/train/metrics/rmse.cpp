#include <cmath>

#include "retrace/train/metric_kind.h"

namespace retrace {
namespace {

// The sum of the squares of all differences, and their number. Contract 1 has these sums for each mini-batch.
std::vector<double> of_batch_rmse(const MetricBatch& batch, const OptionValues&) {
  double sum = 0;
  for (size_t i = 0; i < batch.y.size(); ++i) {
    const double difference = static_cast<double>(batch.y[i]) - static_cast<double>(batch.targets[i]);
    sum += difference * difference;
  }
  return {sum, static_cast<double>(batch.y.size())};
}

}  // namespace

MetricKind rmse_metric() {
  return {.name = "rmse",
          .help = "root of the mean square of the differences",
          .outputs = {nn::OutputKind::image, nn::OutputKind::values, nn::OutputKind::series_values},
          .of_batch = of_batch_rmse,
          .value = [](const MetricNumbers& all, const OptionValues&) {
            return std::sqrt(mean_of(all.numbers[0], all.numbers[1]));
          }};
}

}  // namespace retrace
