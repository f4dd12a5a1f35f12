#include "retrace/train/confusion.h"

namespace retrace {

// ClassMeasures::f_score, the mean over the classes that occur (macro average), from counts.
MetricKind f_score_metric() {
  return {.name = "f-score",
          .help = "2 precision recall / (precision + recall) of a class; mean over the classes",
          .outputs = {nn::OutputKind::class_scores, nn::OutputKind::series_scores, nn::OutputKind::pixel_scores},
          .larger_is_better = true,
          .of_batch = [](const MetricBatch& batch, const OptionValues&) { return confusion_counts(batch); },
          .value = [](const MetricNumbers& all,
                      const OptionValues&) { return mean_of_classes(all, &ClassMeasures::f_score); }};
}

}  // namespace retrace
