#include "retrace/data/series_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/file.h"
#include "retrace/data/npy.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

Error wrong_series(const fs::path& path, const std::string& what) {
  return Error(ErrorKind::bad_data, 476, "a series " + what).where(printable(path.string()));
}

void check_finite(const fs::path& path, const std::vector<float>& values, int64_t width) {
  const auto wrong = std::find_if_not(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
  if (wrong == values.end()) return;
  throw wrong_series(path, "has numbers that are not finite")
      .got(fmt::format("{} at position {}", *wrong, (wrong - values.begin()) / width))
      .help("take the series away, or fill its gaps");
}

// The class numbers in the last column, as labels.
std::vector<CsvLabel> labels_of(const fs::path& path, const std::vector<float>& targets) {
  std::vector<CsvLabel> labels;
  for (const float value : targets) {
    if (!(value >= 0 && value < 65'536 && value == static_cast<float>(static_cast<int>(value))))
      throw Error(ErrorKind::bad_data, 408, "a series has a label that is no class")
          .where(printable(path.string()))
          .got(fmt::format("{} at position {}", value, labels.size()))
          .expected("whole numbers from 0 on in the last column")
          .help("write CSV files, whose labels may be names, or learn values: data.task = \"regression\"");
    labels.push_back({fmt::format("{:.0f}", value), {static_cast<int64_t>(labels.size()) + 1, 1}});
  }
  return labels;
}

// The columns behind the features.
int64_t target_columns(const fs::path& path, const NpyArray& array, const SeriesColumns& columns, bool for_inputs) {
  const int64_t width = array.shape.rank() == 2 ? array.shape[1] : array.shape.rank() == 1 ? 1 : 0;
  const int64_t more = width - columns.features;
  const bool fits = !columns.at_positions ? more == 0 : for_inputs ? more >= 0 : columns.labels ? more == 1 : more >= 1;
  if (fits) return more;
  const std::string wanted =
      !columns.at_positions ? fmt::format("[positions,{}]", columns.features)
      : columns.labels      ? fmt::format("[positions,{}], the last column a class", columns.features + 1)
                            : fmt::format("[positions,{}] or more, targets behind the features", columns.features + 1);
  throw wrong_series(path, "has another shape")
      .got(array.text())
      .expected(wanted)
      .help("data.features is how many numbers each position has");
}

SeriesFile read_npy_series(const fs::path& path, const SeriesColumns& columns, bool for_inputs) {
  const NpyArray array = read_npy(path);
  const int64_t more = target_columns(path, array, columns, for_inputs), width = columns.features + more;
  const std::vector<float> all = array.floats();
  check_finite(path, all, width);
  SeriesFile file;
  for (auto row = all.begin(); row != all.end(); row += width) {
    file.values.insert(file.values.end(), row, row + columns.features);
    file.targets.insert(file.targets.end(), row + columns.features, row + width);
  }
  for (int64_t i = 0; i < more; ++i) file.target_names.push_back(fmt::format("{}", columns.features + i + 1));
  if (columns.labels && !for_inputs) file.labels = labels_of(path, file.targets);
  return file;
}

SeriesFile read_csv_series(const fs::path& path, const SeriesColumns& columns, bool for_inputs) {
  const std::string text = read_file(path, "CSV file", kCsvLimit), name = path.string();
  CsvReader reader(text, name);
  const bool plain = !columns.at_positions && columns.ignored.empty();
  if (reader.next() && plain && std::ssize(reader.cells()) != columns.features)
    throw wrong_series(path, fmt::format("has {} columns", reader.cells().size()))
        .expected(fmt::format("{}, as data.features says", columns.features));
  CsvTable table = parse_csv_table(text, name,
                                   {.header = has_csv_header(text, name, columns.features),
                                    .targets = columns.at_positions ? columns.targets : std::vector<std::string>(),
                                    .ignored = columns.ignored,
                                    .labels = columns.labels,
                                    .features = columns.features,
                                    .for_inputs = for_inputs || !columns.at_positions});
  return {std::move(table.features), std::move(table.values), std::move(table.labels), std::move(table.targets)};
}

}  // namespace

SeriesFile read_series_file(const fs::path& path, const SeriesColumns& columns, bool for_inputs) {
  SeriesFile file = path.extension() == ".npy" ? read_npy_series(path, columns, for_inputs)
                                               : read_csv_series(path, columns, for_inputs);
  if (file.values.empty())
    throw wrong_series(path, "is empty").expected("one position or more").help("take the file away");
  return file;
}

int64_t width_of_series(const fs::path& path) {
  if (path.extension() == ".npy") {
    const NpyArray header = read_npy_header(path);
    return header.shape.rank() == 2 ? header.shape[1] : 1;
  }
  const std::string text = read_file(path, "CSV file", kCsvLimit);
  CsvReader reader(text, path.string());
  return reader.next() ? std::ssize(reader.cells()) : 1;
}

}  // namespace retrace
