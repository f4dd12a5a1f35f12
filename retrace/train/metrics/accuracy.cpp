#include "retrace/train/metric_kind.h"

namespace retrace {
namespace {

// Right answers and samples; the first of equal scores counts.
std::vector<double> of_batch_accuracy(const MetricBatch& batch, const OptionValues&) {
  int64_t right = 0;
  for (int64_t i = 0; i < batch.samples; ++i) right += highest(batch.row(i)) == batch.classes[static_cast<size_t>(i)];
  return {static_cast<double>(right), static_cast<double>(batch.samples)};
}

}  // namespace

MetricKind accuracy_metric() {
  return {
      .name = "accuracy",
      .help = "part of the samples whose highest score is that of their class",
      .outputs = {nn::OutputKind::class_scores, nn::OutputKind::position_scores, nn::OutputKind::series_scores,
                  nn::OutputKind::pixel_scores},
      .larger_is_better = true,
      .of_batch = of_batch_accuracy,
      .value = [](const MetricNumbers& all, const OptionValues&) { return mean_of(all.numbers[0], all.numbers[1]); }};
}

}  // namespace retrace
