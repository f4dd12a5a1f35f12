#include "retrace/report/run_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"

namespace retrace {
namespace {

constexpr size_t kFewPoints = 10;  // are not smoothed

using Points = std::vector<std::pair<double, double>>;

Points training_loss(const RunLog& log) {
  Points points;
  for (const auto& step : log.steps) points.emplace_back(step.iteration, step.loss);
  if (!points.empty()) return points;
  for (const auto& epoch : log.epochs) points.emplace_back(epoch.iteration, epoch.loss);
  return points;
}

Points validation_loss(const RunLog& log) {
  Points points;
  for (const auto& one : log.validations) points.emplace_back(one.iteration, one.loss);
  return points;
}

Points metric(const RunLog& log, const std::string& name) {
  Points points;
  for (const auto& one : log.validations)
    for (const auto& [found, value] : one.metrics)
      if (found == name) points.emplace_back(one.iteration, value);
  return points;
}

Points learn_rates(const RunLog& log) {
  Points points;
  for (const auto& step : log.steps) points.emplace_back(step.iteration, step.learn_rate);
  return points;
}

LineChart loss_chart(const RunLog& log) {
  LineChart chart{.title = "loss", .x_name = "iteration", .curves = {}};
  const Points raw = training_loss(log), validation = validation_loss(log);
  if (raw.size() < kFewPoints) {
    chart.curves.push_back({"training", raw});
  } else {
    chart.curves.push_back({"training", raw, CurveStyle::faint});
    chart.curves.push_back({"smoothed", smoothed(raw)});
  }
  if (!validation.empty()) chart.curves.push_back({"validation", validation, CurveStyle::dashed, 1});
  return chart;
}

}  // namespace

Points smoothed(const Points& points) {
  const double share = 2.0 / (std::max(3.0, static_cast<double>(points.size()) / 10) + 1);
  double sum = 0, weight = 0;
  Points made;
  for (const auto& [x, y] : points) {
    if (!std::isfinite(y)) continue;
    sum = (1 - share) * sum + share * y;
    weight = (1 - share) * weight + share;
    made.emplace_back(x, sum / weight);
  }
  return made;
}

std::vector<std::string> chart_names(const RunLog& log) {
  std::vector<std::string> names{"loss"};
  for (const auto& one : log.validations)
    for (const auto& entry : one.metrics)
      if (std::find(names.begin(), names.end(), entry.first) == names.end()) names.push_back(entry.first);
  if (!log.steps.empty()) names.emplace_back("learn_rate");
  return names;
}

LineChart run_chart(const RunLog& log, const std::filesystem::path& run, const std::string& name) {
  if (name == "loss") return loss_chart(log);
  const auto known = chart_names(log);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    const std::string near = nearest(name, known);
    throw Error(ErrorKind::usage, 675, fmt::format("the run has no metric \"{}\"", printable(name)))
        .where(printable((run / "metrics.jsonl").string()))
        .expected(joined(known, ", "))
        .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
  }
  if (name == "learn_rate") return {name, "iteration", {{"learn rate", learn_rates(log), CurveStyle::line, 2}}};
  return {name, "iteration", {{"validation", metric(log, name), CurveStyle::dashed, 1}}};
}

}  // namespace retrace
