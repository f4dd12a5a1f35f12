#include "retrace/train/confusion.h"

namespace retrace {

// ClassMeasures::precision, the mean over the classes that occur (macro average), from counts.
MetricKind precision_metric() {
  return {.name = "precision",
          .help = "of the samples that were predicted as a class, the part that is of it; mean over the classes",
          .outputs = {nn::OutputKind::class_scores, nn::OutputKind::series_scores, nn::OutputKind::pixel_scores},
          .larger_is_better = true,
          .of_batch = [](const MetricBatch& batch, const OptionValues&) { return confusion_counts(batch); },
          .value = [](const MetricNumbers& all,
                      const OptionValues&) { return mean_of_classes(all, &ClassMeasures::precision); }};
}

}  // namespace retrace
