#pragma once
// Metrics by name: retrace/train/metrics/NAME.cpp defines `MetricKind NAME_metric()`.

#include <functional>
#include <memory>
#include <span>

#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/monitor/monitor.h"
#include "retrace/nn/output.h"

namespace retrace {

// An output of the network for a mini-batch, and its target, on the host.
struct MetricBatch {
  int64_t samples = 0, width = 0;  // width: numbers of a sample, such as classes. Each position counts as a sample
  std::vector<float> y;            // samples x width, row-major
  std::vector<int32_t> classes;    // of scores: the target of each sample, at least 0 and less than width
  std::vector<float> targets;      // of others: samples x width

  std::span<const float> row(int64_t sample) const {
    return std::span(y).subspan(static_cast<size_t>(sample * width), static_cast<size_t>(width));
  }
};
// Not of nn::OutputKind::token_scores. Padding is left out.
MetricBatch metric_batch(nn::OutputKind kind, const Tensor& y, const Tensor& target);
// The class of the highest score, the first one of equal ones.
int64_t highest(std::span<const float> scores);

// What a metric is computed from: its numbers of a whole set.
struct MetricNumbers {
  std::span<const double> numbers;
  int64_t samples = 0, width = 0;  // samples: at least one
};

// A metric is a function of numbers of all samples of a set. All of it is computed in binary64. The evaluator calls it
// in a FloatingPointScope. A value depends on the samples and their order alone: not on the workers, and, where numbers
// are those of samples or counts, not on the size of the mini-batches.
struct MetricKind {
  std::string name;
  std::string_view help;                 // one line
  std::vector<nn::OutputKind> outputs;   // those that it can measure
  bool larger_is_better = false;         // of two values
  std::vector<OptionRule> options = {};  // of this metric alone; keys of [training]
  // Whether of_batch() makes a row of numbers for each sample, all of one length, and the rows of all samples follow
  // each other in their order; else it makes numbers that are added in the order of the mini-batches.
  bool by_sample = false;
  // The numbers of a mini-batch that is not empty, for complete options.
  std::function<std::vector<double>(const MetricBatch& batch, const OptionValues& options)> of_batch = {};
  // In place of of_batch, of a metric of users, whose numbers are those of samples, and of sequences that are not
  // aligned with their targets: the same from tensors.
  std::function<std::vector<double>(const Tensor& y, const Tensor& target)> of_tensors = {};
  // One of the two, of the whole set: a number, or a table.
  std::function<double(const MetricNumbers& all, const OptionValues& options)> value = {};
  std::function<MetricTable(const MetricNumbers& all)> table = {};
};

// Every metric, in the order of the files. Generated.
const std::vector<MetricKind>& all_metrics();

// The metric of an output. Throws Error(usage) for a name that no metric has, or one that cannot measure such an
// output.
const MetricKind& metric_of(const nn::NetworkOutput& output);
bool measures(const MetricKind& metric, nn::OutputKind output);

// A metric of users, of one output.
struct OwnMetricKind {
  std::shared_ptr<const MetricKind> kind;
  size_t output = 0;  // its number
};

// The metrics that a job names, and their options.
struct MetricChoice {
  std::vector<std::string> names = {};  // none: the one that each output has
  OptionValues options = {};
  std::vector<std::string> more = {};   // behind those
  std::vector<OwnMetricKind> own = {};  // behind all of their output
};

// A metric of an output.
struct Metric {
  std::string name;  // "top_k"; of all but the first output with its name: "angle_rmse"
  const MetricKind* kind = nullptr;
  size_t output = 0;     // its number
  OptionValues options;  // complete
};
// The metrics of all outputs, in their order: those of the choice that can measure it, in the order of the choice
// and each once.
// Errors: as metric_of().
std::vector<Metric> metrics_of(const std::vector<nn::NetworkOutput>& outputs, const MetricChoice& choice);

// The sum over a count; 0 of nothing.
inline double mean_of(double sum, double count) { return count > 0 ? sum / count : 0; }

}  // namespace retrace
