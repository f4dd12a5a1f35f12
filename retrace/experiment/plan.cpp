#include "retrace/experiment/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/hash.h"
#include "retrace/base/philox.h"

namespace retrace {
namespace {

constexpr int64_t kStandardTrials = 30, kMostTrials = 1'000'000, kLargestWindow = 1000;
constexpr int kMostSimultaneous = 256;
constexpr const char* kStates[] = {"running", "stopped", "finished", "pruned", "diverged", "failed", "cancelled"};

void check_number(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  throw Error(ErrorKind::usage, 760, fmt::format("{} of an experiment is out of range", name))
      .got(fmt::format("{}", value))
      .expected(fmt::format("{} to {}", low, high));
}

// The options are complete, of the right types and in their ranges.
OptionValues checked(const OptionValues& given, const std::vector<OptionRule>& rules, const std::string& owner) {
  OptionValues all = completed(given, rules, owner);
  for (const auto& rule : rules) {
    const auto number = number_of(*all.find(rule.name));
    if (number && rule.low < rule.high && (*number < rule.low || *number > rule.high))
      throw Error(ErrorKind::usage, 760, fmt::format("{}: {} is out of range", owner, rule.name))
          .got(fmt::format("{}", *number))
          .expected(fmt::format("{} to {}", rule.low, rule.high));
  }
  return all;
}

std::string options_text(const OptionValues& options) {
  std::string text;
  for (const auto& [name, value] : options) text += fmt::format(", {} = {}", name, value_text(value));
  return text;
}

}  // namespace

ExperimentPlan::ExperimentPlan(ExperimentOptions options, Place place)
    : options_(std::move(options)),
      space_(options_.parameters, options_.constraints),
      strategy_(&kind_of(all_strategies(), options_.strategy, "strategy", place)),
      pruner_(&kind_of(all_pruners(), options_.pruning, "way of pruning", place)) {
  options_.strategy_options =
      checked(options_.strategy_options, strategy_->options, fmt::format("strategy \"{}\"", strategy_->name));
  options_.pruning_options =
      checked(options_.pruning_options, pruner_->options, fmt::format("pruning \"{}\"", pruner_->name));
  check_number("trials", static_cast<double>(options_.trials), 0, kMostTrials);
  check_number("window", static_cast<double>(options_.window), 1, kLargestWindow);
  check_number("simultaneous", options_.simultaneous, 1, kMostSimultaneous);
  check_number("time_limit", options_.time_limit, 0, 1e9);
  check_number("seed", static_cast<double>(options_.seed), 0, 9007199254740991.0);
  suggest(1, {});
}

int64_t ExperimentPlan::trials() const {
  return options_.trials > 0 || strategy_->all ? options_.trials : kStandardTrials;
}

std::string ExperimentPlan::identity() const {
  std::string text =
      fmt::format("seed = {}\nmaximize = {}\nwindow = {}\n", options_.seed, options_.maximize, options_.window);
  text += fmt::format("strategy = {}{}\n", strategy_->name, options_text(options_.strategy_options));
  text += fmt::format("pruning = {}{}\n", pruner_->name, options_text(options_.pruning_options));
  for (const auto& parameter : space_.parameters()) {
    text += printable(parameter.name) + " = ";
    for (const auto& value : parameter.values) text += value_text(value) + "; ";
    if (parameter.values.empty())
      text += fmt::format("{} to {}{}{}, points = {}", parameter.low, parameter.high, parameter.log ? ", log" : "",
                          parameter.integer ? ", integer" : "", parameter.points);
    text += "\n";
  }
  for (const auto& constraint : space_.constraints()) text += fmt::format("constraint {}\n", constraint.text());
  return text;
}

uint64_t ExperimentPlan::seed_of(int64_t number) const {
  // 53 bits, so that a job file and a table in JSON hold it.
  return stream_key(options_.seed, hash_bytes("experiment trial"), static_cast<uint64_t>(number), 0) >> 11;
}

std::vector<const TrialRecord*> ExperimentPlan::usable(int64_t number,
                                                       const std::vector<const TrialRecord*>& before) const {
  std::vector<const TrialRecord*> found;
  for (const auto* trial : before)
    if (trial->number <= number - options_.window) found.push_back(trial);
  return found;
}

std::optional<OptionValues> ExperimentPlan::suggest(int64_t number,
                                                    const std::vector<const TrialRecord*>& before) const {
  StrategyView view{.space = space_, .seed = options_.seed, .number = number, .pruned = pruner_->uses_results};
  if (strategy_->uses_results) {
    for (const auto* trial : before) {
      const auto point = space_.point(trial->parameters);
      const double value = std::isfinite(trial->value) ? loss(trial->value) : std::numeric_limits<double>::infinity();
      if (trial->number > number - options_.window)
        view.pending.push_back(point);
      else
        view.known.push_back({point, value});
    }
  }
  const auto point = strategy_->suggest(view, options_.strategy_options);
  return point ? std::optional(space_.values(*point)) : std::nullopt;
}

bool ExperimentPlan::prunes(const TrialRecord& trial, const std::vector<const TrialRecord*>& before) const {
  if (!pruner_->uses_results || trial.reports.empty()) return false;
  const auto losses = [&](std::vector<TrialReport> reports) {
    for (auto& report : reports) report.value = loss(report.value);
    return reports;
  };
  PruningView view{.own = losses(trial.reports), .others = {}};
  for (const auto* other : usable(trial.number, before)) view.others.push_back(losses(other->reports));
  return pruner_->prune(view, options_.pruning_options);
}

const char* state_name(TrialState state) { return kStates[static_cast<size_t>(state)]; }

TrialState state_of(const std::string& name) {
  const auto found = std::find(std::begin(kStates), std::end(kStates), name);
  if (found == std::end(kStates))
    throw Error(ErrorKind::bad_data, 764, fmt::format("no trial can be \"{}\"", printable(name)));
  return static_cast<TrialState>(found - std::begin(kStates));
}

bool has_ended(TrialState state) { return state != TrialState::running && state != TrialState::stopped; }

int64_t best_trial(const std::vector<TrialRecord>& trials, bool maximize) {
  const TrialRecord* best = nullptr;
  for (const auto& trial : trials) {
    if (trial.state != TrialState::finished || !std::isfinite(trial.value)) continue;
    if (!best || (maximize ? trial.value > best->value : trial.value < best->value)) best = &trial;
  }
  return best ? best->number : 0;
}

}  // namespace retrace
