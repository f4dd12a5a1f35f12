#pragma once
// Metrics by name: retrace/train/metrics/NAME.cpp defines `MetricKind NAME_metric()`.

#include <functional>
#include <span>

#include "retrace/base/kinds.h"
#include "retrace/nn/output.h"

namespace retrace {

// A metric is a function of sums over all samples of a set. Sums are taken mini-batch by mini-batch, in binary64, and
// added in the order of the mini-batches, whichever worker computed them.
struct MetricKind {
  std::string name;
  std::string help;                     // one line
  std::vector<nn::OutputKind> outputs;  // those that it can measure
  bool larger_is_better = false;        // of two values
  int sums = 2;                         // how many numbers of_batch() makes
  // From an output and its target, each with the batch axis first.
  std::function<std::vector<double>(const Tensor& y, const Tensor& target)> of_batch;
  // From the sums over all mini-batches.
  std::function<double(std::span<const double> sums)> value;
};

// Every metric, in the order of the files. Generated.
const std::vector<MetricKind>& all_metrics();

// The metric of an output. Throws Error(usage) for a name that no metric has, or one that cannot measure such an
// output.
const MetricKind& metric_of(const nn::NetworkOutput& output);

// The sum over a count; 0 of nothing.
inline double mean_of(double sum, double count) { return count > 0 ? sum / count : 0; }

}  // namespace retrace
