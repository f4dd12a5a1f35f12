#pragma once
// Counts of classes and of what was predicted for them.

#include "retrace/train/metric_kind.h"

namespace retrace {

// Of a mini-batch, row-major: how many samples of class i (row) have their highest score at class j (column).
std::vector<double> confusion_counts(const MetricBatch& batch);

// Of one class, from counts of a whole set: tp are its samples that were predicted as such, fp others that were, fn its
// samples that were not.
struct ClassMeasures {
  int64_t samples = 0, predicted = 0;  // of the class; as the class
  double precision = 0;                // tp / (tp + fp); 0 of nothing
  double recall = 0;                   // tp / (tp + fn); 0 of nothing
  double f_score = 0;                  // 2 tp / (2 tp + fp + fn); 0 of nothing
  double iou = 0;                      // tp / (tp + fp + fn), intersection over union; 0 of nothing
};
std::vector<ClassMeasures> class_measures(std::span<const double> counts, int64_t classes);

// The mean over the classes that occur, among the samples or the predictions; their sum is taken in ascending order.
double mean_of_classes(const MetricNumbers& counts, double ClassMeasures::* measure);

}  // namespace retrace
