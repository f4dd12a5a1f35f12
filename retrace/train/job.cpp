#include "retrace/train/job.h"

#include <fmt/format.h>

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

}  // namespace

std::vector<std::pair<std::string, std::string>> job_values(const Job& job) {
  std::vector<std::pair<std::string, std::string>> values;
  visit_job(job, [&](const std::string& section, const char* name, const auto& value, const FieldRule& rule) {
    if (rule.applies) values.emplace_back(section.empty() ? name : section + "." + name, toml(value));
  });
  return values;
}

std::vector<std::pair<std::string, std::string>> job_identity(const Job& job) {
  std::vector<std::pair<std::string, std::string>> values;
  visit_job(job, [&](const std::string& section, const char* name, const auto& value, const FieldRule& rule) {
    if (rule.applies && rule.changes_bits)
      values.emplace_back(section.empty() ? name : section + "." + name, toml(value));
  });
  return values;
}

std::string job_text(const Job& job) {
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
