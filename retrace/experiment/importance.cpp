#include "retrace/experiment/importance.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "retrace/data/random_stream.h"
#include "retrace/experiment/gaussian_process.h"

namespace retrace {
namespace {

constexpr size_t kLeastTrials = 5, kMostTrials = 200;
constexpr int kSamples = 1000;  // of parameters that are drawn one by one
constexpr size_t kLevels = 12, kOthers = 60;

// Ranks from 0 to 1; equal values have the mean of theirs.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) {
    double below = 0, equal = 0;
    for (const double other : values) below += other < value, equal += other == value;
    result.push_back((below + (equal - 1) / 2) / std::max<double>(1, static_cast<double>(values.size()) - 1));
  }
  return result;
}

double variance(const std::vector<double>& values) {
  double mean = 0, sum = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size());
}

// One parameter, as the process sees it: for each trial the rank of a number, or a coordinate for each other value.
using Columns = std::vector<std::vector<double>>;

Columns columns_of(const std::vector<const TrialRecord*>& trials, const std::string& parameter) {
  const ParameterColumn column = parameter_column(trials, parameter);
  if (!column.numbers.empty()) return {ranks(column.numbers)};
  Columns columns;
  for (const auto& kind : column.kinds()) {
    auto& own = columns.emplace_back();
    for (const auto& text : column.texts) own.push_back(text == kind ? 1 : 0);
  }
  return columns;
}

class Model {
 public:
  Model(std::vector<Columns> parameters, const std::vector<double>& values)
      : parameters_(std::move(parameters)), trials_(values.size()), process_(fit(values)) {}

  size_t parameters() const { return parameters_.size(); }
  size_t trials() const { return trials_; }
  // Where parameter p has the value of trial from[p].
  double at(const std::vector<size_t>& from) const {
    std::vector<double> point;
    for (size_t p = 0; p < parameters_.size(); ++p)
      for (const auto& column : parameters_[p]) point.push_back(column[from[p]]);
    return process_.predict(point).mean;
  }

 private:
  GaussianProcess fit(const std::vector<double>& values) const {
    GaussianProcess::Rows rows(trials_);
    for (size_t i = 0; i < trials_; ++i)
      for (const auto& columns : parameters_)
        for (const auto& column : columns) rows[i].push_back(column[i]);
    const double deviation = std::sqrt(variance(values));
    std::vector<double> scaled;
    for (const double value : values) scaled.push_back((value - 0.5) / deviation);
    return GaussianProcess::fitted(std::move(rows), std::move(scaled));
  }

  std::vector<Columns> parameters_;
  size_t trials_;
  GaussianProcess process_;
};

// Trials for each parameter, drawn one by one.
std::vector<std::vector<size_t>> draw(const Model& model, int count) {
  RandomStream stream(1, "importance", 0, 0, 0);
  std::vector<std::vector<size_t>> drawn(static_cast<size_t>(count));
  for (auto& from : drawn)
    for (size_t p = 0; p < model.parameters(); ++p) from.push_back(static_cast<size_t>(stream.below(model.trials())));
  return drawn;
}

// The variance of what is expected where parameter p alone is known.
double own_variance(const Model& model, size_t p, const std::vector<std::vector<size_t>>& drawn) {
  std::vector<double> means;
  const size_t levels = std::min(kLevels, model.trials());
  for (size_t level = 0; level < levels; ++level) {
    double mean = 0;
    for (size_t i = 0; i < kOthers; ++i) {
      std::vector<size_t> from = drawn[i];
      from[p] = level * model.trials() / levels;
      mean += model.at(from) / static_cast<double>(kOthers);
    }
    means.push_back(mean);
  }
  return variance(means);
}

}  // namespace

std::vector<Importance> importance(const TrialTable& table) {
  std::vector<const TrialRecord*> trials;
  for (const auto& trial : table.trials)
    if (std::isfinite(trial.value)) trials.push_back(&trial);
  if (trials.size() > kMostTrials) trials.erase(trials.begin(), trials.end() - kMostTrials);
  std::vector<double> values;
  for (const auto* trial : trials) values.push_back(trial->value);
  const bool same = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
  if (trials.size() < kLeastTrials || same) return {};
  values = ranks(values);
  std::vector<Importance> result;
  std::vector<Columns> parameters;
  for (const auto& [name, value] : trials.front()->parameters) {
    result.push_back({name, 0});
    parameters.push_back(columns_of(trials, name));
  }
  const Model model(std::move(parameters), values);
  const auto drawn = draw(model, kSamples);
  std::vector<double> all;
  for (const auto& from : drawn) all.push_back(model.at(from));
  if (const double whole = variance(all); whole > 0)
    for (size_t p = 0; p < result.size(); ++p) result[p].share = std::min(1.0, own_variance(model, p, drawn) / whole);
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return result;
}

}  // namespace retrace
