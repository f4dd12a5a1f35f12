#include "retrace/train/job.h"

#include <fmt/format.h>

#include "retrace/base/joined.h"
#include "retrace/data/transform_kind.h"
#include "retrace/device/cpu/fast_mode.h"
#include "retrace/nn/network_kind.h"
#include "retrace/optim/schedule_kind.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_fields.h"
#include "retrace/train/metric_kind.h"
#include "retrace/train/network_toml.h"

namespace retrace {
namespace {

// Of a resolved job; `wanted(field)` chooses among the keys that have a meaning. One without a value is left to what
// computes with it.
template <class Wanted>
std::vector<std::pair<std::string, std::string>> values_of(const Job& job, const Wanted& wanted) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& field : job_fields(job))
    if (field.applies && wanted(field)) {
      const auto value = field.get(job);
      if (value) values.emplace_back(field.key, field.toml ? std::get<std::string>(*value) : toml_text(*value));
    }
  return values;
}

// What a network of layers takes from the data: the shape of a sample, and what its outputs are trained towards.
void complete_layers(nn::NetworkOptions& network, const std::vector<SourceTarget>& targets, const Shape& sample) {
  network.input = sample;
  if (network.outputs.empty()) network.outputs.push_back({.name = targets.at(0).name, .loss = "", .metric = ""});
  for (auto& output : network.outputs) {
    for (const auto& target : targets)
      if (target.name == output.name) output.kind = target.kind;
    if (output.loss.empty()) output.loss = nn::standard_loss(output.kind);
    if (output.metric.empty()) output.metric = nn::standard_metric(output.kind);
  }
}

// Their names in one form, and their options.
void complete_schedules(TrainingOptions& training) {
  const auto names = schedule_names(training.schedule);
  training.schedule = joined(names, ", ");
  if (names.size() > 1) training.options = with_standard_values(std::move(training.options), sequence_options());
  for (const auto& name : names)
    if (const auto* schedule = find_kind(all_schedules(), name))
      training.options = with_standard_values(std::move(training.options), schedule->options);
}

// The types of its options; it has no standard values.
void complete_group(ParameterGroup& group, const SolverKind& solver) {
  const OptionValues typed = with_standard_values(group.options, solver.options);
  for (const auto& [name, value] : OptionValues(group.options)) group.options.set(name, *typed.find(name));
}

}  // namespace

Job resolved(Job job) {
  if (!job.network.layers.empty())
    if (const auto* source = find_kind(all_sources(), job.data.source.value_or("")))
      complete_layers(job.network, targets_of(*source, with_standard_values(job.data.options, source->options)),
                      likely_sample(job, *source));
  if (const auto network = nn::find_network(job.network)) {
    job.network = nn::with_defaults(std::move(job.network), *network);
    if (!job.data.source && !network->source.empty()) job.data.source = network->source;
  }
  if (const auto* source = find_kind(all_sources(), job.data.source.value_or("")))
    job.data.options = with_standard_values(std::move(job.data.options), source->options);
  for (const auto& name : job.data.transforms)
    if (const auto* transform = find_kind(all_transforms(), name))
      job.data.options = with_standard_values(std::move(job.data.options), transform->options);
  TrainingOptions& training = job.training;
  if (!training.mode) training.mode = mode_name(mode_of_thread());
  complete_schedules(training);
  for (const auto& name : chosen_metrics(job))
    if (const auto* metric = find_kind(all_metrics(), name))
      training.options = with_standard_values(std::move(training.options), metric->options);
  if (const auto* solver = find_kind(all_solvers(), training.solver)) {
    training.options = with_standard_values(std::move(training.options), solver->options);
    for (auto& group : training.groups) complete_group(group, *solver);
    if (!training.initial_learn_rate) training.initial_learn_rate = solver->learn_rate;
  }
  return job;
}

std::vector<std::pair<std::string, std::string>> job_values(const Job& job) {
  return values_of(resolved(job), [](const JobField&) { return true; });
}

std::vector<std::pair<std::string, std::string>> job_identity(const Job& job) {
  return values_of(resolved(job), [](const JobField& field) { return field.rule.changes_bits; });
}

std::string job_text(const Job& job) {
  std::string out, current;
  for (const auto& [key, value] : job_values(job)) {
    const std::string section = section_of(key);
    if (section != current) out += fmt::format("\n[{}]\n", section);
    current = section;
    out += fmt::format("{} = {}\n", name_of_key(key), value);
  }
  return out;
}

std::vector<std::string> job_keys() {
  std::vector<std::string> keys;
  for (const auto& field : job_fields(Job())) keys.push_back(field.key);
  return keys;
}

}  // namespace retrace
