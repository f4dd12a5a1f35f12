#include "retrace/train/confusion.h"

namespace retrace {

// ClassMeasures::iou, the mean over the classes that occur (macro average), from counts.
MetricKind mean_iou_metric() {
  return {
      .name = "mean-iou",
      .help = "intersection over union of a class: right ones / (its own + predicted as it - right ones); mean",
      .outputs = {nn::OutputKind::class_scores, nn::OutputKind::series_scores, nn::OutputKind::pixel_scores},
      .larger_is_better = true,
      .of_batch = [](const MetricBatch& batch, const OptionValues&) { return confusion_counts(batch); },
      .value = [](const MetricNumbers& all, const OptionValues&) { return mean_of_classes(all, &ClassMeasures::iou); }};
}

}  // namespace retrace
