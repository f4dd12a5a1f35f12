#include "retrace/data/csv_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "retrace/base/file.h"
#include "retrace/data/array_store.h"
#include "retrace/data/csv_table.h"

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

std::vector<std::string> classes_of(const CsvTable& table) {
  std::set<std::string> names;
  int64_t largest = 0;
  bool numbers = true;
  for (const auto& label : table.labels) {
    names.insert(label.text);
    const int64_t number = class_number(label.text);
    numbers = numbers && number >= 0;
    largest = std::max(largest, number);
  }
  const int64_t count = numbers ? largest + 1 : static_cast<int64_t>(names.size());
  if (count > kMostClasses)
    throw Error(ErrorKind::bad_data, 361, fmt::format("the labels of the CSV file make {} classes", count))
        .where(table.name)
        .expected(fmt::format("at most {}", kMostClasses))
        .help("set the task to regression (in a job data.task = \"regression\"), or name another column as the target");
  if (!numbers) return {names.begin(), names.end()};
  std::vector<std::string> made;
  for (int64_t i = 0; i < count; ++i) made.push_back(fmt::format("{}", i));
  return made;
}

Tensor classes(const CsvTable& table, const std::vector<std::string>& names) {
  std::map<std::string, int32_t> numbers;
  for (const auto& name : names) numbers.emplace(name, static_cast<int32_t>(numbers.size()));
  std::vector<int32_t> labels;
  std::vector<Error> mistakes;
  for (const auto& label : table.labels) {
    auto known = numbers.find(label.text);
    if (known == numbers.end()) known = numbers.find(printable(label.text));  // as a run keeps names
    labels.push_back(known == numbers.end() ? 0 : known->second);
    if (known != numbers.end() || mistakes.size() == 20) continue;
    const auto near = nearest(label.text, names);
    mistakes
        .emplace_back(ErrorKind::bad_data, 360,
                      fmt::format("\"{}\" is no known class", printable(label.text.substr(0, 40))))
        .where(fmt::format("{}:{}:{}", table.name, label.position.line, label.position.column))
        .expected(fmt::format("one of the {} classes of the training set", names.size()))
        .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", printable(near)));
  }
  throw_all(mistakes);
  return Tensor::from(labels, {table.rows}, "B");
}

void check_options(const CsvStoreOptions& options, Place place) {
  if (options.task == Task::regression || options.targets.size() <= 1) return;
  throw Error(ErrorKind::usage, 362, "csv_store: a classification has one column of labels")
      .where(place)
      .got(fmt::format("{} columns", options.targets.size()))
      .help("name one column as the target (in a job data.target_columns), or set the task to regression");
}

}  // namespace

CsvDatastore csv_store(const std::string& file, const CsvStoreOptions& options, Place place) {
  check_options(options, place);
  return with_place(place, [&]() -> CsvDatastore {
    const bool classify = options.task == Task::classification;
    CsvTable table = read_csv_table(file, {.header = options.header,
                                           .targets = options.targets,
                                           .ignored = options.ignored,
                                           .named = options.features,
                                           .labels = classify});
    const auto width = static_cast<int64_t>(table.columns.size()), targets = static_cast<int64_t>(table.targets.size());
    std::vector<std::string> names;
    if (classify) names = options.class_names.empty() ? classes_of(table) : options.class_names;
    const Tensor features = Tensor::from(table.features, {table.rows, width}, "BC");
    const Tensor target = classify ? classes(table, names) : Tensor::from(table.values, {table.rows, targets}, "BC");
    return {array_store({features, target}, {.files = {file}}), std::move(table.columns), std::move(table.targets),
            std::move(names)};
  });
}

}  // namespace retrace
