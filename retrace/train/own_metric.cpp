#include "retrace/train/own_metric.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/joined.h"
#include "retrace/ops/cast/cast.h"

namespace retrace {
namespace {

// The rows of the samples of a mini-batch, one after the other.
std::vector<double> rows_of(const OwnMetric& own, const Tensor& y, const Tensor& target) {
  const Tensor rows = own.of_batch(y, target);
  const Shape& shape = rows.shape();
  const bool good = (shape.rank() == 1 || (shape.rank() == 2 && shape[1] > 0)) && shape[0] == y.shape()[0];
  if (!good)
    throw Error(ErrorKind::usage, 393, fmt::format("the metric \"{}\" has not one row for each sample", own.name))
        .got(shape.text())
        .expected(fmt::format("[{0}], a number for each sample, or [{0},K]", y.shape()[0]))
        .help("name the axes that are reduced: mean(abs(y - t), {1})");
  return cast(rows.to(cpu_device()), DType::f64).to_vector<double>();
}

// Each column is added from the first sample to the last.
std::vector<double> sums_of(const MetricNumbers& all) {
  std::vector<double> sums(static_cast<size_t>(all.width));
  for (size_t i = 0; i < all.numbers.size(); ++i) sums[i % sums.size()] += all.numbers[i];
  return sums;
}

MetricKind kind_of(const OwnMetric& own) {
  return {.name = own.name,
          .help = "of the program",
          .outputs = {},
          .larger_is_better = own.larger_is_better,
          .by_sample = true,
          .of_tensors = [own](const Tensor& y, const Tensor& target) { return rows_of(own, y, target); },
          .value =
              [own](const MetricNumbers& all, const OptionValues&) {
                const auto sums = sums_of(all);
                return own.value ? own.value(sums, all.samples) : sums[0] / static_cast<double>(all.samples);
              }};
}

bool is_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

size_t output_of(const OwnMetric& own, const nn::Network& network, Place place) {
  if (own.output.empty()) return 0;
  std::vector<std::string> names;
  for (const auto& output : network.outputs) names.push_back(output.name);
  const auto found = std::find(names.begin(), names.end(), own.output);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  throw Error(ErrorKind::usage, 395, fmt::format("the metric \"{}\" is of an output that there is not", own.name))
      .where(place)
      .got(fmt::format("\"{}\"", own.output))
      .expected(joined(names, ", "));
}

}  // namespace

std::vector<OwnMetricKind> own_metrics(const TrainNetworkOptions& options, const nn::Network& network, Place place) {
  std::vector<std::string> taken{"loss", "seconds", "iteration", "epoch", "event"};
  for (const auto& metric : metrics_of(network.outputs, {options.training.metrics, options.training.options}))
    taken.push_back(metric.name);
  std::vector<OwnMetricKind> made;
  for (const auto& own : options.own_metrics) {
    if (!is_name(own.name) || std::count(taken.begin(), taken.end(), own.name))
      throw Error(ErrorKind::usage, 392, fmt::format("\"{}\" cannot name a metric of one's own", own.name))
          .where(place)
          .expected(fmt::format("letters, digits and _, and none of {}", joined(taken, ", ")));
    if (!own.of_batch)
      throw Error(ErrorKind::usage, 396, fmt::format("the metric \"{}\" has no of_batch", own.name))
          .where(place)
          .expected("a function of y and the target of a mini-batch");
    taken.push_back(own.name);
    made.push_back({std::make_shared<const MetricKind>(kind_of(own)), output_of(own, network, place)});
  }
  return made;
}

}  // namespace retrace
