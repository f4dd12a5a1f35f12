#include "retrace/train/metric_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/error.h"
#include "retrace/train/class_numbers.h"

namespace retrace {
namespace {

// Events have names with underscores.
std::string told_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Of series: the positions that are no padding.
MetricBatch without_padding(MetricBatch batch) {
  MetricBatch kept;
  kept.width = batch.width;
  const bool scores = !batch.classes.empty();
  for (int64_t i = 0; i < batch.samples; ++i) {
    const auto at = static_cast<size_t>(i), first = static_cast<size_t>(i * batch.width);
    if (scores ? batch.classes[at] < 0 : std::isnan(batch.targets[first])) continue;
    const auto row = batch.row(i);
    kept.y.insert(kept.y.end(), row.begin(), row.end());
    if (scores)
      kept.classes.push_back(batch.classes[at]);
    else
      kept.targets.insert(kept.targets.end(), batch.targets.begin() + static_cast<ptrdiff_t>(first),
                          batch.targets.begin() + static_cast<ptrdiff_t>(first) + batch.width);
    ++kept.samples;
  }
  return kept;
}

MetricBatch whole_batch(nn::OutputKind kind, const Tensor& y, const Tensor& target) {
  MetricBatch batch;
  const bool positions = kind == nn::OutputKind::position_scores || has_padding(kind);
  batch.samples = positions ? y.size() / std::max<int64_t>(y.shape().back(), 1) : y.shape()[0];
  batch.y = y.to_vector<float>();
  batch.width = batch.samples > 0 ? static_cast<int64_t>(batch.y.size()) / batch.samples : 0;
  if (!is_scores(kind)) {
    batch.targets = target.to_vector<float>();
    return batch;
  }
  batch.classes = class_numbers(target);
  return batch;
}

}  // namespace

MetricBatch metric_batch(nn::OutputKind kind, const Tensor& y, const Tensor& target) {
  MetricBatch batch = whole_batch(kind, y, target);
  if (has_padding(kind)) batch = without_padding(std::move(batch));
  for (const int32_t label : batch.classes)
    ensure(label >= 0 && label < batch.width, "a metric gets labels of classes that have a score");
  return batch;
}

int64_t highest(std::span<const float> scores) {
  return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

bool measures(const MetricKind& metric, nn::OutputKind output) {
  return std::count(metric.outputs.begin(), metric.outputs.end(), output) > 0;
}

const MetricKind& metric_of(const nn::NetworkOutput& output) {
  const MetricKind& kind = kind_of(all_metrics(), output.metric, "metric", {});
  if (measures(kind, output.kind)) return kind;
  throw Error(ErrorKind::usage, 433,
              fmt::format("the metric \"{}\" cannot measure the output \"{}\"", kind.name, output.name))
      .got(fmt::format("an output of {}", text_of(output.kind)));
}

std::vector<Metric> metrics_of(const std::vector<nn::NetworkOutput>& outputs, const MetricChoice& choice) {
  std::vector<Metric> metrics;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& output = outputs[i];
    const size_t first = metrics.size();
    const auto add = [&](const MetricKind& kind) {
      const auto same = [&](const Metric& metric) { return metric.kind == &kind; };
      if (std::any_of(metrics.begin() + static_cast<ptrdiff_t>(first), metrics.end(), same)) return;
      const std::string name = told_name(kind.name);
      metrics.push_back(
          {i == 0 ? name : output.name + "_" + name, &kind, i, with_standard_values(choice.options, kind.options)});
    };
    const auto add_fitting = [&](const std::vector<std::string>& names) {
      for (const auto& name : names)
        if (const auto& kind = kind_of(all_metrics(), name, "metric", {}); measures(kind, output.kind)) add(kind);
    };
    if (choice.names.empty() && !output.metric.empty()) add(metric_of(output));
    add_fitting(choice.names);
    add_fitting(choice.more);
    for (const auto& own : choice.own)
      if (own.output == i) metrics.push_back({own.kind->name, own.kind.get(), i, {}});
  }
  return metrics;
}

}  // namespace retrace
