#include "retrace/train/metric_kind.h"

namespace retrace {
namespace {

// How many classes come before that one by their scores: of equal scores the first class, as for accuracy.
int64_t rank_of(std::span<const float> scores, size_t label) {
  int64_t before = 0;
  for (size_t c = 0; c < scores.size(); ++c)  // written so that a NaN comes before all
    before += c < label ? !(scores[c] < scores[label]) : c > label && !(scores[c] <= scores[label]);
  return before;
}

std::vector<double> of_batch_top_k(const MetricBatch& batch, const OptionValues& options) {
  int64_t right = 0;
  for (int64_t i = 0; i < batch.samples; ++i)
    right +=
        rank_of(batch.row(i), static_cast<size_t>(batch.classes[static_cast<size_t>(i)])) < options.integer("top_k");
  return {static_cast<double>(right), static_cast<double>(batch.samples)};
}

}  // namespace

// The samples whose class is among the k with the highest scores, over all samples. k = 1 is accuracy.
MetricKind top_k_metric() {
  return {
      .name = "top-k",
      .help = "part of the samples whose class is among the top_k classes with the highest scores",
      .outputs = {nn::OutputKind::class_scores, nn::OutputKind::position_scores, nn::OutputKind::series_scores,
                  nn::OutputKind::pixel_scores},
      .larger_is_better = true,
      .options = {{.name = "top_k", .help = "classes", .standard = int64_t{5}, .low = 1, .high = 1e9}},
      .of_batch = of_batch_top_k,
      .value = [](const MetricNumbers& all, const OptionValues&) { return mean_of(all.numbers[0], all.numbers[1]); }};
}

}  // namespace retrace
