#include "retrace/train/confusion.h"

namespace retrace {

std::vector<double> confusion_counts(const MetricBatch& batch) {
  std::vector<double> counts(static_cast<size_t>(batch.width * batch.width));
  for (int64_t i = 0; i < batch.samples; ++i)
    ++counts[static_cast<size_t>(batch.classes[static_cast<size_t>(i)] * batch.width + highest(batch.row(i)))];
  return counts;
}

std::vector<ClassMeasures> class_measures(std::span<const double> counts, int64_t classes) {
  const auto n = static_cast<size_t>(classes);
  std::vector<ClassMeasures> measures(n);
  for (size_t c = 0; c < n; ++c) {
    double samples = 0, predicted = 0;
    for (size_t i = 0; i < n; ++i) samples += counts[c * n + i], predicted += counts[i * n + c];
    const double right = counts[c * n + c];
    measures[c] = {static_cast<int64_t>(samples),
                   static_cast<int64_t>(predicted),
                   mean_of(right, predicted),
                   mean_of(right, samples),
                   mean_of(2 * right, samples + predicted),
                   mean_of(right, samples + predicted - right)};
  }
  return measures;
}

double mean_of_classes(const MetricNumbers& counts, double ClassMeasures::* measure) {
  double sum = 0, classes = 0;
  for (const auto& one : class_measures(counts.numbers, counts.width))
    if (one.samples + one.predicted > 0) sum += one.*measure, ++classes;
  return mean_of(sum, classes);
}

}  // namespace retrace
