#include "retrace/train/job.h"

#include <fmt/format.h>

#include "retrace/data/source_kind.h"
#include "retrace/data/transform_kind.h"
#include "retrace/nn/network_kind.h"
#include "retrace/optim/schedule_kind.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/train/job_fields.h"

namespace retrace {
namespace {

std::string toml(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04X}", byte);
    else
      out += c;
  }
  return out + "\"";
}

std::string toml(const std::vector<std::string>& texts) {
  std::string out;
  for (const auto& text : texts) out += (out.empty() ? "" : ", ") + toml(text);
  return "[" + out + "]";
}

std::string toml(bool value) { return value ? "true" : "false"; }
std::string toml(int64_t value) { return fmt::format("{}", value); }
// Shortest text that reads back to the same bits; TOML wants a point or an exponent.
std::string toml(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string toml(const OptionValue& value) {
  return std::visit([](const auto& typed) { return toml(typed); }, value);
}

// Of a resolved job; `wanted(field)` chooses among the keys that have a meaning.
template <class Wanted>
std::vector<std::pair<std::string, std::string>> values_of(const Job& job, const Wanted& wanted) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& field : job_fields(job))
    if (field.applies && wanted(field)) values.emplace_back(field.key, toml(field.get(job).value()));
  return values;
}

}  // namespace

Job resolved(Job job) {
  if (const auto* network = find_kind(nn::all_networks(), job.network.name)) {
    job.network = nn::with_defaults(std::move(job.network), *network);
    if (!job.data.source) job.data.source = network->source;
  }
  if (const auto* source = find_kind(all_sources(), job.data.source.value_or("")))
    job.data.options = with_standard_values(std::move(job.data.options), source->options);
  for (const auto& name : job.data.transforms)
    if (const auto* transform = find_kind(all_transforms(), name))
      job.data.options = with_standard_values(std::move(job.data.options), transform->options);
  TrainingOptions& training = job.training;
  if (const auto* schedule = find_kind(all_schedules(), training.schedule))
    training.options = with_standard_values(std::move(training.options), schedule->options);
  if (const auto* solver = find_kind(all_solvers(), training.solver)) {
    training.options = with_standard_values(std::move(training.options), solver->options);
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
