#include <cmath>

#include "retrace/train/differences.h"

namespace retrace {
namespace {

double term_mae(double y, double t) { return std::fabs(y - t); }

}  // namespace

// The mean over all elements of |y - t|.
MetricKind mae_metric() {
  return {.name = "mae",
          .help = "mean of the absolute differences",
          .outputs = {nn::OutputKind::image, nn::OutputKind::values, nn::OutputKind::series_values},
          .by_sample = true,
          .of_batch = [](const MetricBatch& batch, const OptionValues&) { return sums_of_samples(batch, term_mae); },
          .value = [](const MetricNumbers& all, const OptionValues&) { return mean_of_elements(all); }};
}

}  // namespace retrace
