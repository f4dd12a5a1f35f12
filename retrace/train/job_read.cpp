#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <system_error>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/joined.h"
#include "retrace/base/nearest.h"
#include "retrace/data/source_kind.h"
#include "retrace/nn/network_kind.h"
#include "retrace/train/job_check.h"
#include "retrace/train/job_entries.h"
#include "retrace/train/job_fields.h"

namespace retrace {
namespace {

std::string full_key(const std::string& section, const std::string& name) {
  return section.empty() ? name : section + "." + name;
}

bool is_section(const std::string& key) {
  return std::find(job_sections().begin(), job_sections().end(), key) != job_sections().end();
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
std::errc read_number(const std::string& text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end != text.data() + text.size() ? std::errc::invalid_argument : failure;
}

enum class Fit {
  good,
  other_type,
  whole_with_point,  // 1.0 or 1e3, where a whole number is wanted
};

Fit fit_of_float(double number) {
  return std::isfinite(number) && std::trunc(number) == number ? Fit::whole_with_point : Fit::other_type;
}

// Each assign() takes the value of an entry if its type fits. A number that its type cannot hold becomes one that every
// rule refuses.
Fit assign(const JobValue& value, int64_t& field) {
  using Limits = std::numeric_limits<int64_t>;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    field = *integer;
    return Fit::good;
  }
  if (const auto* with_point = std::get_if<double>(&value)) return fit_of_float(*with_point);
  const auto* raw = std::get_if<RawValue>(&value);
  if (!raw) return Fit::other_type;
  const std::errc failure = read_number(raw->text, field);
  if (failure == std::errc()) return Fit::good;
  if (failure == std::errc::result_out_of_range) {
    field = raw->text[0] == '-' ? Limits::min() : Limits::max();
    return Fit::good;
  }
  double with_point = 0;
  return read_number(raw->text, with_point) == std::errc() ? fit_of_float(with_point) : Fit::other_type;
}

Fit assign(const JobValue& value, double& field) {
  if (const auto* raw = std::get_if<RawValue>(&value)) {
    const std::errc failure = read_number(raw->text, field);
    if (failure == std::errc::result_out_of_range) field = std::numeric_limits<double>::quiet_NaN();
    return failure == std::errc::invalid_argument ? Fit::other_type : Fit::good;
  }
  if (const auto* integer = std::get_if<int64_t>(&value))
    field = static_cast<double>(*integer);
  else if (const auto* number = std::get_if<double>(&value))
    field = *number;
  else
    return Fit::other_type;
  return Fit::good;
}

Fit assign(const JobValue& value, bool& field) {
  if (const auto* raw = std::get_if<RawValue>(&value)) {
    field = raw->text == "true";
    return field || raw->text == "false" ? Fit::good : Fit::other_type;
  }
  const auto* truth = std::get_if<bool>(&value);
  if (!truth) return Fit::other_type;
  field = *truth;
  return Fit::good;
}

Fit assign(const JobValue& value, std::string& field) {
  if (const auto* raw = std::get_if<RawValue>(&value))
    field = without_quotes(raw->text);
  else if (const auto* text = std::get_if<std::string>(&value))
    field = *text;
  else
    return Fit::other_type;
  return Fit::good;
}

Fit assign(const JobValue& value, std::vector<std::string>& field) {
  if (const auto* raw = std::get_if<RawValue>(&value))
    field = split_list(raw->text);
  else if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
    field = *texts;
  else
    return Fit::other_type;
  return Fit::good;
}

// One number is a list, too.
Fit assign(const JobValue& value, std::vector<double>& field) {
  field.clear();
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    field = *numbers;
    return Fit::good;
  }
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value))  // of a list without items
    return texts->empty() ? Fit::good : Fit::other_type;
  const auto* raw = std::get_if<RawValue>(&value);
  if (!raw) return assign(value, field.emplace_back());
  for (const auto& item : split_list(raw->text))
    if (assign(RawValue{item}, field.emplace_back()) != Fit::good) return Fit::other_type;
  return Fit::good;
}

// One whole number is a list, too.
Fit assign(const JobValue& value, std::vector<int64_t>& field) {
  std::vector<double> numbers;
  if (std::holds_alternative<int64_t>(value)) return assign(value, field.emplace_back());
  if (const Fit fit = assign(value, numbers); fit != Fit::good) return fit;
  const auto whole = [](double number) { return std::trunc(number) == number && std::fabs(number) < 0x1p53; };
  if (!std::all_of(numbers.begin(), numbers.end(), whole)) return Fit::other_type;
  field.assign(numbers.begin(), numbers.end());
  return Fit::good;
}

const char* type_name(const OptionValue& value) {
  constexpr const char* names[] = {"true or false",
                                   "a whole number",
                                   "a number",
                                   "a text",
                                   "a list of texts",
                                   "a whole number or a list of whole numbers",
                                   "a number or a list of numbers"};
  static_assert(std::size(names) == std::variant_size_v<OptionValue::variant>);
  return names[value.index()];
}

// The keys of a section, without it; "" is the top level.
std::vector<std::string> names_in(const std::string& section) {
  std::vector<std::string> names;
  for (const auto& known : job_keys())
    if (section_of(known) == section) names.push_back(name_of_key(known));
  return names;
}

std::string help_for_unknown(const std::string& key) {
  const std::string section = section_of(key), name = name_of_key(key);
  const auto meant = [&](const std::string& of, const std::string& near) {
    const bool at_top = of.empty() && !section.empty();
    return fmt::format("did you mean \"{}\"{}?", full_key(of, near), at_top ? ", above the first [section]" : "");
  };
  if (const auto ours = name_elsewhere(name, names_in(section)); !ours.empty()) return meant(section, ours);
  std::vector<std::string> all = {""}, places = {nearest(section, job_sections())};
  all.insert(all.end(), job_sections().begin(), job_sections().end());
  for (const auto& other : all) {  // the right name in the wrong section
    const auto names = names_in(other);
    if (std::find(names.begin(), names.end(), name) != names.end()) return meant(other, name);
  }
  const auto& of_outputs = output_keys();
  if (name != "from" && std::find(of_outputs.begin(), of_outputs.end(), name) != of_outputs.end())
    return fmt::format("outputs have it: network.outputs = [{{name = \"the target\", {} = ...}}]", name);
  places.insert(places.end(), all.begin(), all.end());
  for (const auto& place : places)
    if (const auto near = nearest(name, names_in(place)); !near.empty()) return meant(place, near);
  if (const auto near = nearest(key, job_keys()); !near.empty()) return meant("", near);
  if (!section.empty() && !is_section(section)) return fmt::format("sections: {}", joined(job_sections(), ", "));
  return fmt::format("keys of {}: {}", section.empty() ? "the top level" : "[" + section + "]",
                     joined(names_in(section), ", "));
}

Error wrong_type(const JobEntry& entry, const std::string& expected) {
  const bool one_text = expected == "a list of texts" && entry.shown.starts_with('"');
  return Error(ErrorKind::usage, 413, fmt::format("{} must be {}", entry.key, expected))
      .where(entry.place)
      .got(entry.shown)
      .help(one_text ? fmt::format("write {} = [{}]", name_of_key(entry.key), entry.shown) : "");
}

class JobReader {
  static constexpr size_t kMostHelp = 50;  // mistakes for which the nearest key is looked for; not all are shown

 public:
  Job values_of(const std::vector<JobEntry>& entries) {
    const auto known = job_keys();
    for (const auto& entry : entries)
      if (std::find(known.begin(), known.end(), entry.key) != known.end()) assign_field(entry);
    return resolved(job_);
  }

  Job read(const std::vector<JobEntry>& entries, std::string_view file) {
    const auto known = job_keys();
    for (const auto& entry : entries) {
      const bool field = std::find(known.begin(), known.end(), entry.key) != known.end();
      if (field)
        assign_field(entry);
      else if (is_section(entry.key))
        check_section(entry);
      else
        add_unknown_key(entry);
    }
    complete(file);
    for (const auto& mistake : find_mistakes(job_, given_, faulty_)) errors_.push_back(mistake);
    throw_all(errors_);
    return job_;
  }

 private:
  void assign_field(const JobEntry& entry) {
    const size_t before = errors_.size();
    assign_value(entry);
    if (errors_.size() > before) faulty_.insert(section_of(entry.key));
  }

  void assign_value(const JobEntry& entry) {
    const auto fields = job_fields(job_);
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const JobField& known) { return known.key == entry.key; });
    if (field->toml) return assign_tables(entry);
    OptionValue value = field->rule.standard;
    const Fit fit = std::visit([&](auto& typed) { return assign(entry.value, typed); }, value);
    if (fit != Fit::good) {
      errors_.push_back(wrong_type(entry, type_name(value)));
      if (fit == Fit::whole_with_point) errors_.back().help("write it without a point or an exponent");
      return;
    }
    const auto* texts = std::get_if<std::vector<std::string>>(&value);
    given_[entry.key] = {entry.place, entry.shown, texts && texts->empty()};
    field->set(job_, std::move(value));
  }

  // Layers and outputs of a network, and groups of its parameters.
  void assign_tables(const JobEntry& entry) {
    const std::vector<Error>* mistakes = nullptr;
    if (const auto* read = std::get_if<LayersValue>(&entry.value)) {
      job_.network.layers = read->layers, mistakes = &read->errors;
      if (read->layers.empty())
        errors_.push_back(wrong_type(entry, "a list of layers, one at least").got("an empty list"));
    } else if (const auto* read = std::get_if<OutputsValue>(&entry.value)) {
      job_.network.outputs = read->outputs, mistakes = &read->errors;
      if (read->outputs.empty())
        errors_.push_back(wrong_type(entry, "a list of outputs, one at least").got("an empty list"));
    } else if (const auto* read = std::get_if<GroupsValue>(&entry.value)) {
      job_.training.groups = read->groups, mistakes = &read->errors;
    } else {
      errors_.push_back(wrong_type(entry, "a list of tables, written in a job file"));
    }
    given_[entry.key] = {entry.place, entry.shown};
    if (mistakes) errors_.insert(errors_.end(), mistakes->begin(), mistakes->end());
  }

  void check_section(const JobEntry& entry) {
    if (std::holds_alternative<TableValue>(entry.value)) return;
    errors_.push_back(wrong_type(entry, fmt::format("a section: [{}]", entry.key)));
    faulty_.insert(entry.key);
  }

  // A section that is not known may be one that the layers follow from.
  void add_unknown_key(const JobEntry& entry) {
    errors_.push_back(unknown_key(entry));
    faulty_.insert(section_of(entry.key));
    if (std::holds_alternative<TableValue>(entry.value)) faulty_.insert({"data", "network"});
  }

  Error unknown_key(const JobEntry& entry) const {
    const bool table = std::holds_alternative<TableValue>(entry.value);
    Error error(ErrorKind::usage, 412, fmt::format("unknown {} \"{}\"", table ? "section" : "key", entry.key));
    error.where(entry.place);
    if (errors_.size() > kMostHelp) return error;
    if (entry.key == "parameters" || entry.key == "job")
      return error.help("the file of an experiment is given to retrace sweep, not to retrace train");
    if (!table) return error.help(help_for_unknown(entry.key));
    const auto near = nearest(entry.key, job_sections());
    return error.help(near.empty() ? fmt::format("sections: {}", joined(job_sections(), ", "))
                                   : fmt::format("did you mean [{}]?", near));
  }

  // Defaults that depend on other fields.
  void complete(std::string_view file) {
    if (!given_.count("name")) job_.name = name_from(file);
    if (!job_.network.layers.empty()) {
      if (!given_.count("data.source")) {
        faulty_.insert("data");
        errors_.push_back(Error(ErrorKind::usage, 413, "data.source is missing")
                              .where(printable(file))
                              .expected(joined(names_of(all_sources()), ", "))
                              .help("a network of layers needs data: add [data] with source = \"...\""));
      }
    } else if (!given_.count("network.name") && !given_.count("network.layers")) {
      faulty_.insert("network");
      errors_.push_back(
          Error(ErrorKind::usage, 413, "network.name is missing")
              .where(printable(file))
              .expected(joined(names_of(nn::all_networks()), ", "))
              .help(fmt::format("add [network] with name = \"{}\", or with layers = [...]", Job().network.name)));
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
  std::set<std::string> faulty_;  // sections with mistakes
};

Job parse(std::string_view text, std::string_view file, const std::vector<JobOverride>& overrides,
          const std::filesystem::path* folder) {
  if (text.size() > kMaxJobBytes)
    throw Error(ErrorKind::bad_data, 504, fmt::format("job file \"{}\" is too large", printable(file)))
        .got(fmt::format("{} bytes", text.size()))
        .expected(fmt::format("at most {} bytes", kMaxJobBytes));
  const FloatingPointScope floating_point;  // what reads numbers may round
  return JobReader().read(with_overrides(toml_entries(text, file, folder), overrides), file);
}

// A folder of data or of a run, in the place of a job file.
Error is_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::string name = printable(folder.string()), with_ending = folder.string() + ".toml";
  Error error(ErrorKind::bad_data, 535, fmt::format("job file \"{}\" is a folder", name));
  if (std::filesystem::is_regular_file(with_ending, ignored))
    return error.help(fmt::format("did you mean \"{}\"?", printable(with_ending)));
  if (std::filesystem::is_regular_file(folder / "job.toml", ignored))
    return error.help(fmt::format("\"{}\" is its job; retrace train --resume {} goes on with a run",
                                  printable((folder / "job.toml").string()), name));
  return error.help(fmt::format("retrace init my.toml --data {} writes a job for a folder of data", name));
}

}  // namespace

JobOverride parse_override(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw Error(ErrorKind::usage, 412, fmt::format("\"{}\" is no key=value", printable(text.substr(0, 80))))
        .where("--set")
        .help("write it like training.max_epochs=2");
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)),
          fmt::format("--set {}", printable(text.substr(0, 80)))};
}

Job unchecked_job(const std::vector<JobEntry>& entries) { return JobReader().values_of(entries); }

Job parse_job(std::string_view text, std::string_view file, const std::vector<JobOverride>& overrides) {
  return parse(text, file, overrides, nullptr);
}

Job read_job(const std::filesystem::path& file, const std::vector<JobOverride>& overrides) {
  const auto folder = file.parent_path();
  if (std::error_code ignored; std::filesystem::is_directory(file, ignored)) throw is_folder(file);
  return parse(read_file(file, "job file", kMaxJobBytes), file.string(), overrides, &folder);
}

}  // namespace retrace
