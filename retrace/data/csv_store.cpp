#include "retrace/data/csv_store.h"

#include <fmt/format.h>

#include <set>

#include "retrace/base/file.h"
#include "retrace/data/array_store.h"
#include "retrace/data/csv_reading.h"
#include "retrace/data/csv_table.h"
#include "retrace/data/label_classes.h"

namespace retrace {
namespace {

std::vector<std::string> classes_of(const CsvTable& table) {
  std::set<std::string> labels;
  for (const auto& label : table.labels) labels.insert(label.text);
  return classes_of_labels(labels, table.name);
}

void check_options(const CsvStoreOptions& options, Place place) {
  if (std::string_view(",;|\t").find(options.delimiter) == std::string_view::npos)
    throw Error(ErrorKind::usage, 496, "csv_store: cells cannot be separated by this character")
        .where(place)
        .got(fmt::format("\"{}\"", printable(std::string(1, options.delimiter))))
        .expected("a comma, a semicolon, a bar or a tab");
  if (options.decimal != '.' && options.decimal != ',')
    throw Error(ErrorKind::usage, 492, "csv_store: this character cannot stand before decimals")
        .where(place)
        .got(fmt::format("\"{}\"", printable(std::string(1, options.decimal))))
        .expected("a point or a comma");
  if (options.task == Task::regression || options.targets.size() <= 1) return;
  throw Error(ErrorKind::usage, 362, "csv_store: a classification has one column of labels")
      .where(place)
      .got(fmt::format("{} columns", options.targets.size()))
      .help("name one column as the target (in a job data.target_columns), or set the task to regression");
}

}  // namespace

CsvReading CsvReading::read(const std::string& file, const CsvStoreOptions& options, double test_share, uint64_t seed,
                            Place place) {
  check_options(options, place);
  const CsvDateOptions date_options = CsvDateOptions::of(options.date_origin, options.date_parts, place);
  return with_place(place, [&]() -> CsvReading {
    const bool classify = options.task == Task::classification;
    CsvTable table = read_csv_table(file, {.header = options.header,
                                           .delimiter = options.delimiter,
                                           .decimal = options.decimal,
                                           .missing = options.missing,
                                           .targets = options.targets,
                                           .ignored = options.ignored,
                                           .named = options.features,
                                           .categorical = options.categorical,
                                           .dates = options.dates,
                                           .date_options = date_options,
                                           .empty = options.empty_cells,
                                           .categories = options.categories,
                                           .means = options.means,
                                           .unknown_is_zeros = options.unknown_categories_are_zeros,
                                           .test_share = test_share,
                                           .seed = seed,
                                           .cleans = true,
                                           .labels = classify});
    const auto targets = static_cast<int64_t>(table.targets.size());
    std::vector<std::string> names;
    if (classify) names = options.class_names.empty() ? classes_of(table) : options.class_names;
    const Tensor features = Tensor::from(table.features, {table.rows, table.width}, "BC");
    const Tensor target = classify ? Tensor::from(numbers_of_labels(table.labels, table.name, names), {table.rows}, "B")
                                   : Tensor::from(table.values, {table.rows, targets}, "BC");
    CsvDatastore store{array_store({features, target}, {.files = {file}}),
                       std::move(table.columns),
                       std::move(table.targets),
                       std::move(names),
                       std::move(table.categories),
                       std::move(table.means)};
    return {std::move(store), test_share > 0 ? std::optional(std::move(table.parts)) : std::nullopt};
  });
}

CsvDatastore CsvReading::part(std::span<const int64_t> records) const {
  return {store.subset(records, Place()),
          store.feature_names(),
          store.target_names(),
          store.class_names(),
          store.categories(),
          store.means()};
}

CsvDatastore csv_store(const std::string& file, const CsvStoreOptions& options, Place place) {
  return CsvReading::read(file, options, 0, 0, place).store;
}

std::pair<CsvDatastore, CsvDatastore> split_csv(const std::string& file, double test_share,
                                                const CsvStoreOptions& options, uint64_t seed, Place place) {
  check_test_share(test_share, place);
  const CsvReading whole = CsvReading::read(file, options, test_share, seed, place);
  return {whole.part(whole.parts->train), whole.part(whole.parts->test)};
}

}  // namespace retrace
