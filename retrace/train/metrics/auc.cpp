#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/train/metric_kind.h"

namespace retrace {
namespace {

// The scores of each sample, then its class.
std::vector<double> of_batch_auc(const MetricBatch& batch, const OptionValues&) {
  std::vector<double> rows;
  for (int64_t i = 0; i < batch.samples; ++i) {
    const auto scores = batch.row(i);
    rows.insert(rows.end(), scores.begin(), scores.end());
    rows.push_back(batch.classes[static_cast<size_t>(i)]);
  }
  return rows;
}

struct Scored {
  double score = 0;
  bool positive = false;
};

// The pairs of a sample of the class and one of another in which the first has the higher score, equal ones as a half,
// over all such pairs; NaN where there is none. Counts are whole numbers, and divided once.
double area(std::vector<Scored> samples) {
  std::sort(samples.begin(), samples.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });
  int64_t positives = 0, negatives = 0, halves = 0;
  for (size_t first = 0, end = 0; first < samples.size(); first = end) {
    int64_t positive = 0, negative = 0;  // of an equal score
    for (end = first; end < samples.size() && samples[end].score == samples[first].score; ++end)
      ++(samples[end].positive ? positive : negative);
    halves += positive * (2 * negatives + negative);
    positives += positive, negatives += negative;
  }
  const double pairs = static_cast<double>(positives) * static_cast<double>(negatives);
  return pairs > 0 ? static_cast<double>(halves) / (2 * pairs) : std::numeric_limits<double>::quiet_NaN();
}

double value_auc(const MetricNumbers& all, const OptionValues&) {
  const auto width = static_cast<size_t>(all.width);
  for (const double number : all.numbers)
    if (std::isnan(number)) return number;
  double sum = 0, classes = 0;
  for (size_t c = width == 2 ? 1 : 0; c < width; ++c) {
    std::vector<Scored> samples;
    for (size_t row = 0; row < all.numbers.size(); row += width + 1)
      samples.push_back({all.numbers[row + c], all.numbers[row + width] == static_cast<double>(c)});
    if (const double found = area(std::move(samples)); !std::isnan(found)) sum += found, ++classes;
  }
  return classes > 0 ? sum / classes : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

// The area under the receiver operating characteristic, by pairs (Mann and Whitney, 1947). Of two classes: of the
// scores of the second one. Of more: each class against all others, and the mean over the classes that have samples and
// are not all there is. NaN where there is no pair, or a score is NaN.
MetricKind auc_metric() {
  return {.name = "auc",
          .help = "area under the ROC curve; of more than two classes the mean of each against the others",
          .outputs = {nn::OutputKind::class_scores},
          .larger_is_better = true,
          .by_sample = true,
          .of_batch = of_batch_auc,
          .value = value_auc};
}

}  // namespace retrace
