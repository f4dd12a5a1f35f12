#include "retrace/data/label_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "retrace/base/file.h"

namespace retrace {
namespace {

constexpr int64_t kMostClasses = 65'536;

// The number that a label names its class by, as in 0, 7, 12; -1 for other labels.
int64_t class_number(const std::string& label) {
  int64_t number = -1;
  const char* const last = label.data() + label.size();
  const auto [end, failure] = std::from_chars(label.data(), last, number);
  const bool canonical = failure == std::errc() && end == last && number >= 0 && label == fmt::format("{}", number);
  return canonical ? number : -1;
}

bool is_whole_number(const std::string& text) {
  return is_csv_number(text) && text.find_first_not_of("-0123456789") == std::string::npos;
}

}  // namespace

bool are_class_labels(const std::set<std::string>& labels) {
  constexpr size_t kMostNumbers = 20;
  if (!std::all_of(labels.begin(), labels.end(), [](const auto& label) { return is_csv_number(label); })) return true;
  return labels.size() <= kMostNumbers && std::all_of(labels.begin(), labels.end(), is_whole_number);
}

std::vector<std::string> classes_of_labels(const std::set<std::string>& names, const std::string& where) {
  int64_t largest = 0;
  bool numbers = true;
  for (const auto& name : names) {
    const int64_t number = class_number(name);
    numbers = numbers && number >= 0;
    largest = std::max(largest, number);
  }
  const int64_t count = numbers ? largest + 1 : static_cast<int64_t>(names.size());
  if (count > kMostClasses)
    throw Error(ErrorKind::bad_data, 361, fmt::format("the labels of the CSV file make {} classes", count))
        .where(printable(where))
        .expected(fmt::format("at most {}", kMostClasses))
        .help("set the task to regression (in a job data.task = \"regression\"), or name another column as the target");
  if (!numbers) return {names.begin(), names.end()};
  std::vector<std::string> made;
  for (int64_t i = 0; i < count; ++i) made.push_back(fmt::format("{}", i));
  return made;
}

std::vector<int32_t> numbers_of_labels(const std::vector<CsvLabel>& given, const std::string& file,
                                       const std::vector<std::string>& names) {
  std::map<std::string, int32_t> numbers;
  for (const auto& name : names) numbers.emplace(name, static_cast<int32_t>(numbers.size()));
  std::vector<int32_t> found;
  std::vector<Error> mistakes;
  for (const auto& label : given) {
    auto known = numbers.find(label.text);
    if (known == numbers.end()) known = numbers.find(printable(label.text));  // as a run keeps names
    found.push_back(known == numbers.end() ? 0 : known->second);
    if (known != numbers.end() || mistakes.size() == 20) continue;
    const auto near = nearest(label.text, names);
    mistakes
        .emplace_back(ErrorKind::bad_data, 360,
                      fmt::format("\"{}\" is no known class", printable(label.text.substr(0, 40))))
        .where(fmt::format("{}:{}:{}", file, label.position.line, label.position.column))
        .expected(fmt::format("one of the {} classes of the training set", names.size()))
        .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", printable(near)));
  }
  throw_all(mistakes);
  return found;
}

}  // namespace retrace
