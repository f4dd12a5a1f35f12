#include "retrace/data/csv_store.h"

#include "retrace/base/file.h"
#include "retrace/data/source_kind.h"

namespace retrace {
namespace {

std::filesystem::path file_of(Split split, const SourceRequest& request) {
  return request.path / (split == Split::train ? "train.csv" : "test.csv");
}

bool is_regression(const OptionValues& options) { return options.text("task") == "regression"; }

// Classes are those of the training set.
CsvDatastore store_of(Split split, const SourceRequest& request) {
  CsvStoreOptions options{.header = request.options.truth("header"),
                          .targets = request.options.texts("target_columns"),
                          .ignored = request.options.texts("ignored_columns"),
                          .task = is_regression(request.options) ? Task::regression : Task::classification};
  if (split == Split::test && options.task == Task::classification)
    options.class_names = store_of(Split::train, request).class_names();
  std::error_code ignored;
  if (!std::filesystem::exists(request.path, ignored)) throw missing_path(request.path, "data folder");
  return csv_store(file_of(split, request).string(), options, Place());
}

}  // namespace

SourceKind csv_source() {
  constexpr double kMost = 1'000'000;
  return {.name = "csv",
          .help = "the files train.csv and test.csv of the folder data.path: features, and a class or values",
          .targets = {{.name = "class"}, {.name = "value", .kind = nn::OutputKind::values}},
          .reads_folder = true,
          .files = "train.csv and test.csv",
          .options = {{.name = "task",
                       .help = "what is learned: a class or values",
                       .standard = std::string("classification"),
                       .choices = {"classification", "regression"}},
                      {.name = "features",
                       .help = "the number of columns that are features; 0: as the training set has",
                       .standard = int64_t{0},
                       .high = kMost},
                      {.name = "header",
                       .help = "whether the first line has the names of the columns; else they are 1, 2, 3, ...",
                       .standard = true},
                      {.name = "target_columns",
                       .help = "the columns that are learned; none: the last one",
                       .standard = std::vector<std::string>{},
                       .may_be_empty = true},
                      {.name = "ignored_columns",
                       .help = "columns that are not used",
                       .standard = std::vector<std::string>{},
                       .may_be_empty = true}},
          .has_target = [](const SourceTarget& target,
                           const OptionValues& options) { return is_regression(options) == (target.name == "value"); },
          .sample = [](const SourceRequest& request) { return Shape{request.options.integer("features")}; },
          .load = [](Split split, const SourceRequest& request) -> Datastore { return store_of(split, request); },
          // The number of records is in no header: this reads the file.
          .description =
              [](Split split, const SourceRequest& request) {
                const CsvDatastore store = store_of(split, request);
                SourceDescription made{store.size(), {}, static_cast<int64_t>(store.class_names().size())};
                for (const Tensor& variable : store.get(0)) made.variables.push_back(variable.spec());
                return made;
              },
          .origin = [](Split split, int,
                       const SourceRequest& request) { return printable(file_of(split, request).string()); }};
}

}  // namespace retrace
