#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/train/job_entries.h"
#include "retrace/train/job_fields.h"
#include "retrace/train/network_read.h"
#include "retrace/train/toml_depth.h"

namespace retrace {
namespace {

struct Positioned {
  toml::source_position position;
  JobEntry entry;
};

std::string shortened(std::string_view text) {
  constexpr size_t limit = 80;
  return text.size() <= limit ? printable(text) : printable(text.substr(0, limit)) + "...";
}

// In quotes where TOML wants them: "a.b" is one key, a.b are two.
std::string key_text(std::string_view key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return bare ? shortened(key) : fmt::format("\"{}\"", shortened(key));
}

toml::table parsed(std::string_view text, std::string_view file) {
  check_toml_depth(text, file);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    const auto position = error.source().begin;
    const std::string_view what = error.description();
    const bool number = what.find("representable") != what.npos || what.find("floating-point") != what.npos;
    const bool wide = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
    throw Error(ErrorKind::usage, 411, fmt::format("the job file is no valid TOML: {}", printable(what)))
        .help(number ? "a number is out of range, or misspelt"
              : wide ? "it is UTF-16, as PowerShell writes: save it as UTF-8"
                     : "")
        .where(fmt::format("{}:{}:{}", printable(file), position.line, position.column));
  }
}

class EntryReader {
 public:
  EntryReader(std::string_view file, const std::filesystem::path* folder, std::vector<Positioned>& entries)
      : file_(printable(file)), folder_(folder), entries_(entries) {}

  // Of the top level and the sections of a job. What lies deeper belongs to an entry that is a mistake itself.
  void read(const toml::table& job) {
    read(job, "");
    for (const auto& section : job_sections())
      if (const auto* table = job[section].as_table()) read(*table, section + ".");
  }

 private:
  void read(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      // The key's position, not the value's: a mistake is most often found there.
      auto position = key.source().begin;
      if (!position) position = node.source().begin;
      const std::string name = prefix + key_text(key.str());
      const auto* file = node.as_string();
      if (file && name == "network.file" && folder_)
        read_network(file->get(), position);
      else
        add(name, node, position);
    }
  }

  // The keys of a file of its own stand where network.file does.
  void read_network(const std::string& name, toml::source_position position) {
    const auto path = *folder_ / name;
    std::vector<Positioned> found;
    EntryReader(path.string(), nullptr, found)
        .read(parsed(read_file(path, "network file", kMaxJobBytes), path.string()), "network.");
    for (auto& one : found) entries_.push_back({position, std::move(one.entry)});
  }

  void add(const std::string& name, const toml::node& node, toml::source_position position) {
    auto [value, shown] = tables_of(name, node);
    entries_.push_back(
        {position,
         {name, std::move(value), std::move(shown), fmt::format("{}:{}:{}", file_, position.line, position.column)}});
  }

  // Lists of tables have a form of their own.
  std::pair<JobValue, std::string> tables_of(const std::string& key, const toml::node& node) const {
    const auto* list = node.as_array();
    if (list && key == "network.layers") return {read_layers(*list, file_), "a list of layers"};
    if (list && key == "network.outputs") return {read_outputs(*list, file_), "a list of outputs"};
    if (list && key == "training.groups") return {read_groups(*list, file_), "a list of groups"};
    return value_of(node);
  }

  static std::pair<JobValue, std::string> value_of(const toml::node& node) {
    if (node.is_table()) return {TableValue{}, "a section"};
    if (const auto* text = node.as_string()) return {text->get(), fmt::format("\"{}\"", shortened(text->get()))};
    if (const auto* number = node.as_integer()) return {number->get(), fmt::format("{}", number->get())};
    if (const auto* number = node.as_floating_point()) return {number->get(), float_text(number->get())};
    if (const auto* truth = node.as_boolean()) return {truth->get(), truth->get() ? "true" : "false"};
    if (const auto* list = node.as_array()) return list_of(*list);
    return {OtherValue{}, "a date or time"};
  }

  // With a point, since 1 and 1.0 are different values.
  static std::string float_text(double number) {
    const std::string text = fmt::format("{}", number);
    return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
  }

  static std::pair<JobValue, std::string> list_of(const toml::array& list) {
    if (!list.empty() && list[0].is_number()) return numbers_of(list);
    std::vector<std::string> texts;
    std::string shown;
    for (const auto& item : list) {
      const auto* text = item.as_string();
      if (!text) return {OtherValue{}, "a list with items that are neither all texts nor all numbers"};
      texts.push_back(text->get());
      shown += fmt::format("{}\"{}\"", shown.empty() ? "" : ", ", text->get());
    }
    return {std::move(texts), fmt::format("[{}]", shortened(shown))};
  }

  static std::pair<JobValue, std::string> numbers_of(const toml::array& list) {
    std::vector<double> numbers;
    std::string shown;
    for (const auto& item : list) {
      if (!item.is_number()) return {OtherValue{}, "a list with items that are neither all texts nor all numbers"};
      numbers.push_back(item.value<double>().value());
      shown += fmt::format("{}{}", shown.empty() ? "" : ", ", numbers.back());
    }
    return {std::move(numbers), fmt::format("[{}]", shortened(shown))};
  }

  std::string file_;
  const std::filesystem::path* folder_;
  std::vector<Positioned>& entries_;
};

}  // namespace

std::vector<JobEntry> toml_entries(std::string_view text, std::string_view file, const std::filesystem::path* folder) {
  std::vector<Positioned> found;
  EntryReader(file, folder, found).read(parsed(text, file));
  std::sort(found.begin(), found.end(), [](const Positioned& a, const Positioned& b) {
    return a.position != b.position ? a.position < b.position
                                    : a.entry.key < b.entry.key;  // sections before their keys
  });
  std::vector<JobEntry> entries;
  for (auto& one : found) entries.push_back(std::move(one.entry));
  return entries;
}

}  // namespace retrace
