#include "retrace/train/differences.h"

namespace retrace {
namespace {

double term_binary_accuracy(double y, double t) { return (y > 0) == (t > 0.5) ? 1 : 0; }

}  // namespace

// The part of all elements with (y > 0) = (t > 0.5): of logits, and of targets that are 0 or 1.
MetricKind binary_accuracy_metric() {
  return {.name = "binary-accuracy",
          .help = "part of the logits that are above 0 where their target is 1, and below where it is 0",
          .outputs = {nn::OutputKind::image, nn::OutputKind::values},
          .larger_is_better = true,
          .by_sample = true,
          .of_batch = [](const MetricBatch& batch,
                         const OptionValues&) { return sums_of_samples(batch, term_binary_accuracy); },
          .value = [](const MetricNumbers& all, const OptionValues&) { return mean_of_elements(all); }};
}

}  // namespace retrace
