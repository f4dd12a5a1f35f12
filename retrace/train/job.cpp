#include "retrace/train/job.h"

#include <fmt/format.h>

#include "retrace/nn/networks.h"
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
std::string toml(int value) { return fmt::format("{}", value); }
std::string toml(uint64_t value) { return fmt::format("{}", value); }
// Shortest text that reads back to the same bits; TOML wants a point or an exponent.
std::string toml(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// The text of a number that nobody gave: of a job that is not resolved, whose values nobody is shown.
template <class Value>
std::string toml(const std::optional<Value>& value) {
  return value ? toml(*value) : "";
}

}  // namespace

double default_learn_rate(const TrainingOptions& options) { return options.solver == "sgdm" ? 0.01 : 0.001; }

Job resolved(Job job) {
  const std::string& network = job.network.name;
  if (!job.network.width) job.network.width = nn::default_width(network);
  if (!job.data.source)
    job.data.source = network == "peaks" ? "peaks" : network == "cifar10" ? "cifar10-synthetic" : "digits";
  if (!job.training.initial_learn_rate) job.training.initial_learn_rate = default_learn_rate(job.training);
  return job;
}

std::vector<std::pair<std::string, std::string>> job_values(const Job& given) {
  const Job job = resolved(given);
  std::vector<std::pair<std::string, std::string>> values;
  visit_job(job, [&](const std::string& section, const char* name, const auto& value, const FieldRule& rule) {
    if (rule.applies) values.emplace_back(section.empty() ? name : section + "." + name, toml(value));
  });
  return values;
}

std::vector<std::pair<std::string, std::string>> job_identity(const Job& given) {
  const Job job = resolved(given);
  std::vector<std::pair<std::string, std::string>> values;
  visit_job(job, [&](const std::string& section, const char* name, const auto& value, const FieldRule& rule) {
    if (rule.applies && rule.changes_bits)
      values.emplace_back(section.empty() ? name : section + "." + name, toml(value));
  });
  return values;
}

std::string job_text(const Job& given) {
  const Job job = resolved(given);
  std::string out, current;
  visit_job(job, [&](const std::string& section, const char* name, const auto& value, const FieldRule& rule) {
    if (!rule.applies) return;
    if (section != current) out += fmt::format("\n[{}]\n", section), current = section;
    out += fmt::format("{} = {}\n", name, toml(value));
  });
  return out;
}

std::vector<std::string> job_keys() {
  const Job job;
  std::vector<std::string> keys;
  visit_job(job, [&](const std::string& section, const char* name, const auto&, const FieldRule&) {
    keys.push_back(section.empty() ? name : section + "." + name);
  });
  return keys;
}

}  // namespace retrace
