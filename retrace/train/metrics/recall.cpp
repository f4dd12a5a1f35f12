#include "retrace/train/confusion.h"

namespace retrace {

// ClassMeasures::recall, the mean over the classes that occur (macro average), from counts.
MetricKind recall_metric() {
  return {.name = "recall",
          .help = "of the samples of a class, the part that was predicted as such; mean over the classes",
          .outputs = {nn::OutputKind::class_scores, nn::OutputKind::series_scores, nn::OutputKind::pixel_scores},
          .larger_is_better = true,
          .of_batch = [](const MetricBatch& batch, const OptionValues&) { return confusion_counts(batch); },
          .value = [](const MetricNumbers& all,
                      const OptionValues&) { return mean_of_classes(all, &ClassMeasures::recall); }};
}

}  // namespace retrace
