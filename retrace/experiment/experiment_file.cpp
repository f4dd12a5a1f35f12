#include "retrace/experiment/experiment_file.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <limits>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/train/toml_depth.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

constexpr uint64_t kMostBytes = 1'000'000;
constexpr size_t kMostValues = 10'000;

const std::vector<std::string> kKeys = {"job",        "strategy",    "trials",     "seed",
                                        "objective",  "direction",   "window",     "simultaneous",
                                        "time_limit", "constraints", "parameters", "pruning"};
const std::vector<std::string> kRangeKeys = {"low", "high", "log", "points", "values", "integer"};

template <class Value, class Node>
std::vector<Value> items_of(const Node& list) {
  std::vector<Value> items;
  for (const auto& item : list)
    if (const auto value = item.template value_exact<Value>()) items.push_back(*value);
  return items;
}

// A value of an option; nothing for tables, dates and mixed lists.
std::optional<OptionValue> option_value(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto truth = node.value_exact<bool>()) return *truth;
  if (const auto whole = node.value_exact<int64_t>()) return *whole;
  if (const auto number = node.value_exact<double>()) return *number;
  const auto* list = node.as_array();
  if (!list || list->empty()) return std::nullopt;
  if (auto texts = items_of<std::string>(*list); texts.size() == list->size()) return texts;
  if (auto wholes = items_of<int64_t>(*list); wholes.size() == list->size()) return wholes;
  std::vector<double> numbers;
  for (const auto& item : *list)
    if (item.is_number()) numbers.push_back(item.value<double>().value());
  return numbers.size() == list->size() ? std::optional<OptionValue>(numbers) : std::nullopt;
}

// What is wrong in a file, with its place.
class Mistakes {
 public:
  explicit Mistakes(std::string file) : file_(std::move(file)) {}

  void add(const toml::source_position& at, const std::string& what, const std::string& help = "") {
    errors_.push_back(Error(ErrorKind::usage, 746, what)
                          .where(at ? fmt::format("{}:{}:{}", file_, at.line, at.column) : file_)
                          .help(help));
  }
  void unknown(const toml::source_position& at, const std::string& key, const std::vector<std::string>& known) {
    const std::string near = nearest(key, known);
    if (key == "training" || key == "network" || key == "data")
      return add(at, fmt::format("unknown key \"{}\"", key),
                 "a job is given to retrace train; the file of an experiment names it: job = \"JOB.toml\"");
    add(at, fmt::format("unknown key \"{}\"", printable(key)),
        near.empty() ? fmt::format("keys: {}", joined(known, ", ")) : fmt::format("did you mean \"{}\"?", near));
  }
  void must_be(const toml::source_position& at, const std::string& key, const char* expected) {
    add(at, fmt::format("{} must be {}", printable(key), expected));
  }
  bool whole(const std::string& key, const toml::source_position& at, const toml::node& node, int64_t& into) {
    const auto value = node.value_exact<int64_t>();
    if (value && *value >= 0)
      into = *value;
    else
      must_be(at, key, "a whole number, 0 or more");
    return value && *value >= 0;
  }
  bool none() const { return errors_.empty(); }
  void throw_them() const { throw_all(errors_); }

 private:
  std::string file_;
  std::vector<Error> errors_;
};

// The section [parameters].
class ParameterReader {
 public:
  ParameterReader(std::vector<ExperimentParameter>& into, Mistakes& mistakes) : into_(into), mistakes_(mistakes) {}

  // "a.b" = ... and a.b = ... are the same key.
  void parameters(const std::string& prefix, const toml::table& table) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      const auto at = key.source().begin;
      const auto* section = node.as_table();
      const auto ranges = [&](const auto& known) { return section->contains(known); };
      if (node.is_array())
        values(name, at, *node.as_array(), into_.emplace_back());
      else if (section && std::any_of(kRangeKeys.begin(), kRangeKeys.end(), ranges))
        range(name, at, *section);
      else if (section && !section->empty())
        parameters(name + ".", *section);
      else
        mistakes_.must_be(at, name, "a list of values, or a range {low = 1, high = 10}");
    }
  }

 private:
  void values(const std::string& name, const toml::source_position& at, const toml::array& list,
              ExperimentParameter& parameter) {
    parameter.name = name;
    for (const auto& item : list)
      if (const auto value = option_value(item)) parameter.values.push_back(*value);
    if (list.empty() || parameter.values.size() != list.size() || list.size() > kMostValues)
      mistakes_.must_be(at, name, "a list of texts, numbers, truth values or lists of these, one at least");
  }

  void range(const std::string& name, const toml::source_position& at, const toml::table& table) {
    ExperimentParameter& parameter = into_.emplace_back();
    parameter.name = name;
    for (const auto& [key, node] : table) {
      const std::string own(key.str());
      if (std::find(kRangeKeys.begin(), kRangeKeys.end(), own) == kRangeKeys.end())
        mistakes_.unknown(key.source().begin, own, kRangeKeys);
    }
    if (const auto* list = table["values"].as_array()) {
      if (table.size() > 1) mistakes_.must_be(at, name, "a list of values, or a range, and not both");
      return values(name, at, *list, parameter);
    }
    const auto low = table["low"], high = table["high"];
    if (!low.is_number() || !high.is_number())
      return mistakes_.must_be(at, name, "a range with two numbers, low and high");
    parameter.low = low.value<double>().value(), parameter.high = high.value<double>().value();
    parameter.integer = low.is_integer() && high.is_integer();
    truth(name + ".integer", at, table, "integer", parameter.integer);
    truth(name + ".log", at, table, "log", parameter.log);
    if (const auto* points = table.get("points")) mistakes_.whole(name + ".points", at, *points, parameter.points);
  }

  void truth(const std::string& name, const toml::source_position& at, const toml::table& table, const char* key,
             bool& into) {
    const auto* node = table.get(key);
    if (!node) return;
    if (const auto value = node->value_exact<bool>())
      into = *value;
    else
      mistakes_.must_be(at, name, "true or false");
  }

  std::vector<ExperimentParameter>& into_;
  Mistakes& mistakes_;
};

class ExperimentReader {
 public:
  explicit ExperimentReader(const fs::path& path) : mistakes_(printable(path.string())) {
    file_.name = path.stem().string();
    folder_ = path.parent_path();
  }

  ExperimentFile read(const toml::table& table) {
    for (const auto& [key, node] : table) read_key(std::string(key.str()), key.source().begin, node);
    if (!table.contains("job")) mistakes_.add({}, "an experiment names its job file: job = \"job.toml\"");
    if (file_.options.parameters.empty() && mistakes_.none())
      mistakes_.add({}, "an experiment varies one parameter at least, in its section [parameters]");
    mistakes_.throw_them();
    return file_;
  }

 private:
  void read_key(const std::string& key, const toml::source_position& at, const toml::node& node) {
    ExperimentOptions& options = file_.options;
    if (key == "job") {
      std::string job;
      if (text(key, at, node, job)) file_.job = folder_ / job;
    } else if (key == "objective") {
      text(key, at, node, file_.objective);
    } else if (key == "direction") {
      direction(at, node);
    } else if (key == "strategy") {
      kind(key, at, node, options.strategy, options.strategy_options);
    } else if (key == "pruning") {
      kind(key, at, node, options.pruning, options.pruning_options);
    } else if (key == "trials") {
      mistakes_.whole(key, at, node, options.trials);
    } else if (key == "seed") {
      int64_t seed = 0;
      if (mistakes_.whole(key, at, node, seed)) options.seed = static_cast<uint64_t>(seed);
    } else if (key == "window") {
      mistakes_.whole(key, at, node, options.window);
    } else if (key == "simultaneous") {
      int64_t trials = 1;
      if (mistakes_.whole(key, at, node, trials))
        options.simultaneous = static_cast<int>(std::min<int64_t>(trials, 1'000'000));
    } else if (key == "time_limit") {
      if (const auto seconds = node.value<double>(); seconds && node.is_number())
        options.time_limit = *seconds;
      else
        mistakes_.must_be(at, key, "a number of seconds");
    } else if (key == "constraints") {
      constraints(at, node);
    } else if (key == "parameters" && node.is_table()) {
      ParameterReader(options.parameters, mistakes_).parameters("", *node.as_table());
    } else if (key == "parameters") {
      mistakes_.must_be(at, key, "a section: [parameters]");
    } else {
      mistakes_.unknown(at, key, kKeys);
    }
  }

  bool text(const std::string& key, const toml::source_position& at, const toml::node& node, std::string& into) {
    const auto value = node.value_exact<std::string>();
    if (value && !value->empty())
      into = *value;
    else
      mistakes_.must_be(at, key, "a text");
    return value && !value->empty();
  }

  void direction(const toml::source_position& at, const toml::node& node) {
    std::string text_of;
    if (!text("direction", at, node, text_of)) return;
    if (text_of == "maximize" || text_of == "minimize")
      file_.maximize = text_of == "maximize";
    else
      mistakes_.must_be(at, "direction", "\"minimize\" or \"maximize\"");
  }

  // A name, or a section with the key name and options.
  void kind(const std::string& key, const toml::source_position& at, const toml::node& node, std::string& name,
            OptionValues& options) {
    const auto* table = node.as_table();
    if (!table) {
      text(key, at, node, name);
      return;
    }
    for (const auto& [option, value] : *table) {
      const auto place = option.source().begin;
      const std::string own(option.str());
      if (own == "name")
        text(key + ".name", place, value, name);
      else if (const auto read = option_value(value))
        options.set(own, *read);
      else
        mistakes_.must_be(place, key + "." + own, "a text, a number, true or false, or a list of these");
    }
    if (!table->contains("name")) mistakes_.add(at, fmt::format("the section [{}] has a key name", key));
  }

  void constraints(const toml::source_position& at, const toml::node& node) {
    if (const auto* list = node.as_array()) file_.options.constraints = items_of<std::string>(*list);
    if (!node.is_array() || file_.options.constraints.size() != node.as_array()->size())
      mistakes_.must_be(at, "constraints", "a list of texts");
  }

  Mistakes mistakes_;
  fs::path folder_;
  ExperimentFile file_;
};

}  // namespace

ExperimentFile parse_experiment(std::string_view text, const fs::path& file) {
  check_toml_depth(text, file.string());
  try {
    return ExperimentReader(file).read(toml::parse(text));
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    throw Error(ErrorKind::usage, 746,
                fmt::format("the file of the experiment is no valid TOML: {}", printable(error.description())))
        .where(fmt::format("{}:{}:{}", printable(file.string()), at.line, at.column));
  }
}

ExperimentFile read_experiment(const fs::path& file) {
  return parse_experiment(read_file(file, "file of an experiment", kMostBytes), file);
}

}  // namespace retrace
