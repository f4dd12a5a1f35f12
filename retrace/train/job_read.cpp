#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/train/job_check.h"
#include "retrace/train/job_entries.h"
#include "retrace/train/job_fields.h"

namespace retrace {
namespace {

std::string full_key(const std::string& section, const std::string& name) {
  return section.empty() ? name : section + "." + name;
}

const std::vector<std::string>& sections() {
  static const std::vector<std::string> names = {"network", "data", "training"};
  return names;
}

bool is_section(const std::string& key) {
  return std::find(sections().begin(), sections().end(), key) != sections().end();
}

std::string without_quotes(const std::string& text) {
  const bool quoted = text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::vector<std::string> split_list(std::string text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= text.size() && !text.empty();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string item = text.substr(begin, end - begin);
    item.erase(0, item.find_first_not_of(' '));
    item.erase(item.find_last_not_of(' ') + 1);
    items.push_back(without_quotes(item));
    begin = end + 1;
  }
  return items;
}

template <class Number>
bool read_number(const std::string& text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

// Each assign() takes the value of an entry if its type fits the field, and says so.
template <class Integer>
  requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
bool assign(const JobValue& value, Integer& field, const FieldRule& rule) {
  int64_t number = 0;
  if (const auto* raw = std::get_if<RawValue>(&value)) {
    if (!read_number(raw->text, number)) return false;
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    number = *integer;
  } else {
    return false;
  }
  // Outside the rule's range the field keeps the nearest value that it can hold: the check reports it.
  const auto below = static_cast<int64_t>(rule.low) - 1, above = static_cast<int64_t>(rule.high) + 1;
  field = static_cast<Integer>(number < below ? below : number > above ? above : number);
  return true;
}

bool assign(const JobValue& value, double& field, const FieldRule&) {
  if (const auto* raw = std::get_if<RawValue>(&value)) return read_number(raw->text, field);
  if (const auto* integer = std::get_if<int64_t>(&value)) return field = static_cast<double>(*integer), true;
  if (const auto* number = std::get_if<double>(&value)) return field = *number, true;
  return false;
}

bool assign(const JobValue& value, bool& field, const FieldRule&) {
  if (const auto* raw = std::get_if<RawValue>(&value))
    return field = raw->text == "true", field || raw->text == "false";
  if (const auto* truth = std::get_if<bool>(&value)) return field = *truth, true;
  return false;
}

bool assign(const JobValue& value, std::string& field, const FieldRule&) {
  if (const auto* raw = std::get_if<RawValue>(&value)) return field = without_quotes(raw->text), true;
  if (const auto* text = std::get_if<std::string>(&value)) return field = *text, true;
  return false;
}

bool assign(const JobValue& value, std::vector<std::string>& field, const FieldRule&) {
  if (const auto* raw = std::get_if<RawValue>(&value)) return field = split_list(raw->text), true;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return field = *texts, true;
  return false;
}

template <class Value>
bool assign(const JobValue& value, std::optional<Value>& field, const FieldRule& rule) {
  Value given{};
  const bool fits = assign(value, given, rule);
  if (fits) field = std::move(given);
  return fits;
}

const char* type_name(int) { return "a whole number"; }
const char* type_name(uint64_t) { return "a whole number"; }
const char* type_name(double) { return "a number"; }
const char* type_name(bool) { return "true or false"; }
const char* type_name(const std::string&) { return "a text"; }
const char* type_name(const std::vector<std::string>&) { return "a list of texts"; }
template <class Value>
const char* type_name(const std::optional<Value>&) {
  return type_name(Value{});
}

std::string help_for_unknown(const std::string& key) {
  const size_t dot = key.rfind('.');
  const std::string section = dot == std::string::npos ? "" : key.substr(0, dot), name = key.substr(dot + 1);
  std::vector<std::string> same, all, last;
  for (const auto& known : job_keys()) {
    const size_t known_dot = known.rfind('.');
    if ((known_dot == std::string::npos ? "" : known.substr(0, known_dot)) == section)
      same.push_back(known.substr(known_dot + 1));
    all.push_back(known), last.push_back(known.substr(known_dot + 1));
  }
  for (size_t i = 0; i < all.size(); ++i)  // the right name in the wrong section
    if (last[i] == name) return fmt::format("did you mean \"{}\"?", all[i]);
  if (const auto near = nearest(name, same); !near.empty())
    return fmt::format("did you mean \"{}\"?", full_key(section, near));
  if (const auto near = nearest(key, all); !near.empty()) return fmt::format("did you mean \"{}\"?", near);
  if (const auto near = nearest(name, last); !near.empty())
    return fmt::format("did you mean \"{}\"?",
                       all[static_cast<size_t>(std::find(last.begin(), last.end(), near) - last.begin())]);
  return fmt::format("keys of {}: {}", section.empty() ? "the top level" : "[" + section + "]", fmt::join(same, ", "));
}

Error unknown_key(const JobEntry& entry, bool table) {
  Error error(ErrorKind::usage, 412, fmt::format("unknown {} \"{}\"", table ? "section" : "key", entry.key));
  error.where(entry.place);
  if (!table) return error.help(help_for_unknown(entry.key));
  const auto near = nearest(entry.key, sections());
  return error.help(near.empty() ? std::string("sections: network, data, training")
                                 : fmt::format("did you mean [{}]?", near));
}

Error wrong_type(const JobEntry& entry, const std::string& expected) {
  return Error(ErrorKind::usage, 413, fmt::format("{} must be {}", entry.key, expected))
      .where(entry.place)
      .got(entry.shown);
}

class JobReader {
 public:
  Job read(const std::vector<JobEntry>& entries, std::string_view file) {
    const auto known = job_keys();
    for (const auto& entry : entries) {
      const bool field = std::find(known.begin(), known.end(), entry.key) != known.end();
      if (field)
        assign_field(entry);
      else if (is_section(entry.key))
        check_section(entry);
      else if (!below_unknown(entry.key))
        add_unknown(entry);
    }
    complete(file);
    for (const auto& mistake : find_mistakes(job_, given_, errors_.empty())) errors_.push_back(mistake);
    throw_all(errors_);
    return job_;
  }

 private:
  void assign_field(const JobEntry& entry) {
    visit_job(job_, [&](const std::string& section, const char* name, auto& value, const FieldRule& rule) {
      if (full_key(section, name) != entry.key) return;
      if (assign(entry.value, value, rule))
        given_[entry.key] = {entry.place, entry.shown};
      else
        errors_.push_back(wrong_type(entry, type_name(value)));
    });
  }

  void check_section(const JobEntry& entry) {
    if (!std::holds_alternative<TableValue>(entry.value))
      errors_.push_back(wrong_type(entry, fmt::format("a section: [{}]", entry.key)));
  }

  void add_unknown(const JobEntry& entry) {
    const bool table = std::holds_alternative<TableValue>(entry.value);
    if (table) unknown_tables_.insert(entry.key + ".");
    errors_.push_back(unknown_key(entry, table));
  }

  bool below_unknown(const std::string& key) const {
    for (const auto& table : unknown_tables_)
      if (key.rfind(table, 0) == 0) return true;
    return false;
  }

  // Defaults that depend on other fields.
  void complete(std::string_view file) {
    if (!given_.count("name")) job_.name = name_from(file);
    if (!given_.count("network.name")) {
      errors_.push_back(Error(ErrorKind::usage, 413, "network.name is missing")
                            .where(printable(file))
                            .expected("digits, peaks, autoencoder, cifar10")
                            .help("add [network] with name = \"digits\""));
      return;
    }
    job_ = resolved(job_);
  }

  static std::string name_from(std::string_view file) {
    std::string name = std::filesystem::path(file).stem().string();
    for (char& c : name)
      if (!is_name_character(c)) c = '-';
    name = name.substr(0, kMaxJobName);
    return is_job_name(name) ? name : "job";
  }

  Job job_;
  GivenKeys given_;
  std::vector<Error> errors_;
  std::set<std::string> unknown_tables_;
};

}  // namespace

std::vector<JobEntry> override_entries(const std::vector<JobOverride>& overrides) {
  std::vector<JobEntry> entries;
  for (const auto& one : overrides)
    entries.push_back({printable(one.key), RawValue{one.value},
                       fmt::format("\"{}\"", printable(one.value.substr(0, 80))), one.place});
  return entries;
}

JobOverride parse_override(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw Error(ErrorKind::usage, 412, fmt::format("\"{}\" is no key=value", printable(text.substr(0, 80))))
        .where("--set")
        .help("write it like training.max_epochs=2");
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)),
          fmt::format("--set {}", printable(text.substr(0, 80)))};
}

Job parse_job(std::string_view text, std::string_view file, const std::vector<JobOverride>& overrides) {
  if (text.size() > kMaxJobBytes)
    throw Error(ErrorKind::bad_data, 504, fmt::format("job file \"{}\" is too large", printable(file)))
        .got(fmt::format("{} bytes", text.size()))
        .expected(fmt::format("at most {} bytes", kMaxJobBytes));
  const FloatingPointScope floating_point;  // what reads numbers may round
  auto entries = toml_entries(text, file);
  for (auto& entry : override_entries(overrides)) entries.push_back(std::move(entry));
  return JobReader().read(entries, file);
}

Job read_job(const std::filesystem::path& file, const std::vector<JobOverride>& overrides) {
  return parse_job(read_file(file, "job file", kMaxJobBytes), file.string(), overrides);
}

}  // namespace retrace
