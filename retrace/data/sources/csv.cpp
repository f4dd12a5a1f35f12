#include "retrace/data/csv_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/data/csv_look.h"
#include "retrace/data/csv_reading.h"
#include "retrace/data/csv_table.h"
#include "retrace/data/file_table.h"
#include "retrace/data/label_classes.h"
#include "retrace/data/source_kind.h"

namespace retrace {
namespace {

// Whether `path` is the file itself, as it may be without a test set, and of a test set whose columns are known.
bool is_table(Split split, const SourceRequest& request) {
  std::error_code ignored;
  const bool may_be = request.whole || (split == Split::test && !request.training.features.empty());
  return may_be && std::filesystem::is_regular_file(request.path, ignored);
}

std::filesystem::path file_of_csv(Split split, const SourceRequest& request) {
  if (is_table(split, request)) return request.path;
  return request.path / (split == Split::train ? "train.csv" : "test.csv");
}

bool is_regression_csv(const OptionValues& options) { return options.text("task") == "regression"; }

void check_folder_csv(Split split, const SourceRequest& request) {
  const std::filesystem::path& path = request.path;
  if (is_table(split, request)) return;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) throw missing_path(path, "data folder");
  if (std::filesystem::is_directory(path, ignored)) return;
  throw no_folder_of_tables(path);
}

// In any order.
bool are_same(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  return std::is_permutation(names.begin(), names.end(), others.begin(), others.end(),
                             [](const auto& a, const auto& b) { return printable(a) == printable(b); });
}

CsvReading read_of_csv(Split split, const SourceRequest& request, const TrainingFacts& training) {
  CsvStoreOptions options{.header = request.options.truth("header"),
                          .delimiter = csv_delimiter(request.options.text("delimiter")),
                          .decimal = request.options.text("decimal")[0],
                          .missing = request.options.texts("missing"),
                          .targets = request.options.texts("target_columns"),
                          .ignored = request.options.texts("ignored_columns"),
                          .categorical = request.options.texts("categorical_columns"),
                          .dates = request.options.texts("date_columns"),
                          .date_origin = request.options.text("date_origin"),
                          .date_parts = request.options.texts("date_parts"),
                          .empty_cells = empty_csv_cells(request.options.text("empty_cells")),
                          .categories = training.categories,
                          .means = training.means,
                          .unknown_categories_are_zeros = request.options.text("unknown_categories") == "zeros",
                          .task = is_regression_csv(request.options) ? Task::regression : Task::classification,
                          .class_names = training.class_names};
  if (options.header && are_csv_names(training.features)) {  // else they count in their order
    options.features = training.features;
    options.ignored.clear();
    if (options.targets.empty() || are_same(options.targets, training.targets)) options.targets = training.targets;
  }
  return CsvReading::read(file_of_csv(split, request).string(), options, request.whole ? request.test_share : 0, 0,
                          Place());
}

int64_t classes_of_csv(const CsvDatastore& store) { return static_cast<int64_t>(store.class_names().size()); }

TrainingFacts facts_of_csv(const CsvDatastore& train) {
  return {.class_names = train.class_names(),
          .features = train.feature_names(),
          .targets = train.target_names(),
          .categories = train.categories(),
          .means = train.means()};
}

// Classes and columns are those of the training set.
CsvReading read_of_csv(Split split, const SourceRequest& request) {
  check_folder_csv(split, request);
  if (split == Split::train) return read_of_csv(split, request, request.whole ? request.training : TrainingFacts());
  const bool known = !request.training.features.empty();
  return read_of_csv(split, request, known ? request.training : facts_of_csv(read_of_csv(Split::train, request).store));
}

SourceSet set_of_csv(Split split, const SourceRequest& request) {
  const CsvReading read = read_of_csv(split, request);
  SourceSet set(read.store, classes_of_csv(read.store), facts_of_csv(read.store));
  set.parts = read.parts;
  return set;
}

DataLook look_csv(const std::filesystem::path& path, const std::string& target) {
  const SourceRequest request{.path = path, .whole = true};
  check_folder_csv(Split::train, request);
  return look_at_csv(file_of_csv(Split::train, request), target);
}

// The number of records is in no header: this reads the file.
SourceDescription description_of_csv(Split split, const SourceRequest& request) {
  const CsvDatastore store = read_of_csv(split, request).store;
  SourceDescription made{store.size(), {}, classes_of_csv(store), facts_of_csv(store)};
  for (const Tensor& variable : store.get(0)) made.variables.push_back(variable.spec());
  return made;
}

}  // namespace

SourceKind csv_source() {
  constexpr double kMost = 1'000'000;
  return {
      .name = "csv",
      .help = "the files train.csv and test.csv of the folder data.path: features, and a class or values",
      .targets = {{.name = "class"}, {.name = "value", .kind = nn::OutputKind::values}},
      .reads_folder = true,
      .files = "train.csv and test.csv",
      .options = {{.name = "task",
                   .help = "what is learned: a class or values",
                   .standard = std::string("classification"),
                   .choices = {"classification", "regression"}},
                  {.name = "features",
                   .help = "the number of features, of which each category is one; 0: as the training set has",
                   .standard = int64_t{0},
                   .high = kMost},
                  {.name = "header",
                   .help = "whether the first line has the names of the columns; else they are 1, 2, 3, ...",
                   .standard = true},
                  {.name = "delimiter",
                   .help = "what separates cells",
                   .standard = std::string(","),
                   .choices = {",", ";", "|", "tab"}},
                  {.name = "decimal",
                   .help = "what stands before the decimals of a number: a point or a comma",
                   .standard = std::string("."),
                   .choices = {".", ","}},
                  {.name = "missing",
                   .help = "words that stand for an empty cell",
                   .standard = std::vector<std::string>{},
                   .may_be_empty = true},
                  {.name = "target_columns",
                   .help = "the columns that are learned; none: the last one",
                   .standard = std::vector<std::string>{},
                   .may_be_empty = true},
                  {.name = "categorical_columns",
                   .help = "columns of features that are texts or kinds: a feature for each category, 1 or 0",
                   .standard = std::vector<std::string>{},
                   .may_be_empty = true},
                  {.name = "unknown_categories",
                   .help = "texts that are no category of the training set: an error, or zeros for all categories",
                   .standard = std::string("error"),
                   .choices = {"error", "zeros"}},
                  {.name = "date_columns",
                   .help = "columns of features that are dates, as 2024-05-01: days since date_origin",
                   .standard = std::vector<std::string>{},
                   .may_be_empty = true},
                  {.name = "date_origin",
                   .help = "the date from which days are counted",
                   .standard = std::string("1970-01-01")},
                  {.name = "date_parts",
                   .help = "features of each date besides its day: for each weekday, month and hour 1 or 0",
                   .standard = std::vector<std::string>{},
                   .choices = {"weekday", "month", "hour"},
                   .may_be_empty = true},
                  {.name = "empty_cells",
                   .help =
                       "empty cells of features: an error, the mean of the training set, or their record is left out",
                   .standard = std::string("error"),
                   .choices = {"error", "mean", "drop"}},
                  {.name = "ignored_columns",
                   .help = "columns that are not used",
                   .standard = std::vector<std::string>{},
                   .may_be_empty = true}},
      .has_target = [](const SourceTarget& target,
                       const OptionValues& options) { return is_regression_csv(options) == (target.name == "value"); },
      .sample = [](const SourceRequest& request) { return Shape{request.options.integer("features")}; },
      .load = set_of_csv,
      .description = description_of_csv,
      .class_names =
          [](const SourceRequest& request) { return read_of_csv(Split::train, request).store.class_names(); },
      .look_for_target = look_csv,
      .origin = [](Split split, int,
                   const SourceRequest& request) { return printable(file_of_csv(split, request).string()); }};
}

}  // namespace retrace
