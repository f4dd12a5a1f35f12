#include "retrace/base/double_math.h"
#include "retrace/train/differences.h"

namespace retrace {
namespace {

constexpr double kDecibels = 0x1.15f2ced384f29p+2;  // 10 / ln 10

double term_psnr(double y, double t) { return (y - t) * (y - t); }

double value_psnr(const MetricNumbers& all, const OptionValues& options) {
  const double peak = options.number("psnr_peak");
  return kDecibels * double_math::log(peak * peak / mean_of_elements(all));
}

}  // namespace

// 10 log10(peak^2 / the mean over all elements of (y - t)^2), in decibels; infinite for images that are equal.
MetricKind psnr_metric() {
  return {.name = "psnr",
          .help = "peak signal-to-noise ratio of all images together, in decibels",
          .outputs = {nn::OutputKind::image},
          .larger_is_better = true,
          .options = {{.name = "psnr_peak",
                       .help = "the largest value that a pixel may have",
                       .standard = 1.0,
                       .high = 1e9,
                       .above_low = true}},
          .by_sample = true,
          .of_batch = [](const MetricBatch& batch, const OptionValues&) { return sums_of_samples(batch, term_psnr); },
          .value = value_psnr};
}

}  // namespace retrace
