#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/train/job_entries.h"

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

class EntryReader {
 public:
  EntryReader(std::string_view file, std::vector<Positioned>& entries) : file_(file), entries_(entries) {}

  void read(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      // The key's position, not the value's: a mistake is most often found there.
      auto position = key.source().begin;
      if (!position) position = node.source().begin;
      add(name, node, position);
      if (const auto* inner = node.as_table()) read(*inner, name + ".");
    }
  }

 private:
  void add(const std::string& name, const toml::node& node, toml::source_position position) {
    auto [value, shown] = value_of(node);
    entries_.push_back({position,
                        {printable(name), std::move(value), std::move(shown),
                         fmt::format("{}:{}:{}", printable(file_), position.line, position.column)}});
  }

  static std::pair<JobValue, std::string> value_of(const toml::node& node) {
    if (node.is_table()) return {TableValue{}, "a section"};
    if (const auto* text = node.as_string()) return {text->get(), fmt::format("\"{}\"", shortened(text->get()))};
    if (const auto* number = node.as_integer()) return {number->get(), fmt::format("{}", number->get())};
    if (const auto* number = node.as_floating_point()) return {number->get(), fmt::format("{}", number->get())};
    if (const auto* truth = node.as_boolean()) return {truth->get(), truth->get() ? "true" : "false"};
    if (const auto* list = node.as_array()) return list_of(*list);
    return {OtherValue{}, "a date or time"};
  }

  static std::pair<JobValue, std::string> list_of(const toml::array& list) {
    std::vector<std::string> texts;
    std::string shown;
    for (const auto& item : list) {
      const auto* text = item.as_string();
      if (!text) return {OtherValue{}, "a list with items that are no texts"};
      texts.push_back(text->get());
      shown += fmt::format("{}\"{}\"", shown.empty() ? "" : ", ", text->get());
    }
    return {std::move(texts), fmt::format("[{}]", shortened(shown))};
  }

  std::string_view file_;
  std::vector<Positioned>& entries_;
};

}  // namespace

std::vector<JobEntry> toml_entries(std::string_view text, std::string_view file) {
  std::vector<Positioned> found;
  try {
    const toml::table table = toml::parse(text);
    EntryReader(file, found).read(table, "");
  } catch (const toml::parse_error& error) {
    const auto position = error.source().begin;
    throw Error(ErrorKind::usage, 411, fmt::format("the job file is no valid TOML: {}", printable(error.description())))
        .where(fmt::format("{}:{}:{}", printable(file), position.line, position.column));
  }
  std::sort(found.begin(), found.end(), [](const Positioned& a, const Positioned& b) {
    return a.position != b.position ? a.position < b.position
                                    : a.entry.key < b.entry.key;  // sections before their keys
  });
  std::vector<JobEntry> entries;
  for (auto& one : found) entries.push_back(std::move(one.entry));
  return entries;
}

}  // namespace retrace
