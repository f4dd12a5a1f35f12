#include "retrace/train/differences.h"

namespace retrace {

std::vector<double> sums_of_samples(const MetricBatch& batch, double (*term)(double y, double t)) {
  std::vector<double> sums(static_cast<size_t>(batch.samples));
  for (size_t i = 0, element = 0; i < sums.size(); ++i)
    for (int64_t k = 0; k < batch.width; ++k, ++element)
      sums[i] += term(static_cast<double>(batch.y[element]), static_cast<double>(batch.targets[element]));
  return sums;
}

double mean_of_elements(const MetricNumbers& sums) {
  double sum = 0;
  for (const double one : sums.numbers) sum += one;
  return sum / (static_cast<double>(sums.samples) * static_cast<double>(sums.width));
}

}  // namespace retrace
