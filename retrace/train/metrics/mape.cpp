#include <cmath>

#include "retrace/train/differences.h"

namespace retrace {
namespace {

constexpr double kLeast = 0x1p-52;  // in place of a target of 0

double term_mape(double y, double t) {
  const double size = std::fabs(t);
  return std::fabs(y - t) / (size < kLeast ? kLeast : size);
}

}  // namespace

// The mean over all elements of |y - t| / max(|t|, 2^-52): a fraction, no per cent.
MetricKind mape_metric() {
  return {.name = "mape",
          .help = "mean of the absolute differences, each as a fraction of its target",
          .outputs = {nn::OutputKind::image, nn::OutputKind::values, nn::OutputKind::series_values},
          .by_sample = true,
          .of_batch = [](const MetricBatch& batch, const OptionValues&) { return sums_of_samples(batch, term_mape); },
          .value = [](const MetricNumbers& all, const OptionValues&) { return mean_of_elements(all); }};
}

}  // namespace retrace
