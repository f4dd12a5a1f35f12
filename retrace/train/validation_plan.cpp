#include "retrace/train/validation_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/joined.h"

namespace retrace {
namespace {

constexpr const char* kLoss = "loss";

}  // namespace

ValidationPlan::ValidationPlan(const TrainingTask& task)
    : options_(task.validation),
      epochs_(task.training.max_epochs),
      active_(task.validated),
      keeps_best_(task.training.output_network == "best-validation") {
  std::vector<std::string> names{kLoss};
  const MetricChoice choice{.names = task.training.metrics, .options = task.training.options, .own = task.own_metrics};
  for (const auto& metric : metrics_of(task.network.outputs, choice)) {
    if (metric.kind->table) continue;
    if (metric.name == options_.objective) larger_is_better_ = metric.kind->larger_is_better;
    names.push_back(metric.name);
  }
  if (std::count(names.begin(), names.end(), options_.objective)) return;
  const auto near = nearest(options_.objective, names);
  throw Error(ErrorKind::usage, 483, fmt::format("validation.objective has no choice \"{}\"", options_.objective))
      .expected(joined(names, ", "))
      .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

bool ValidationPlan::after_epoch(int64_t epoch) const {
  return active_ && options_.unit == "epochs" && (epoch % options_.frequency == 0 || epoch == epochs_);
}

bool ValidationPlan::after_iteration(int64_t iteration, int64_t iterations) const {
  return active_ && options_.unit == "iterations" && (iteration % options_.frequency == 0 || iteration == iterations);
}

double ValidationPlan::value_of(const NetworkScore& score) const {
  for (const auto& [name, value] : score.metrics)
    if (name == options_.objective) return value;
  return score.loss;
}

void ValidationPlan::judge(RunState& state, const NetworkScore& score, const NetworkWeights& weights) const {
  const double value = value_of(score);
  const bool better = state.best_iteration == 0 ? !std::isnan(value)
                      : larger_is_better_       ? value > state.best_value
                                                : value < state.best_value;
  if (!better) {
    ++state.not_better;
    return;
  }
  state.best_iteration = state.iterations;
  state.best_value = value;
  state.not_better = 0;
  if (keeps_best_) state.best = weights;
}

bool ValidationPlan::is_over(const RunState& state) const {
  return options_.patience > 0 && state.not_better >= options_.patience && state.epochs < epochs_;
}

}  // namespace retrace
