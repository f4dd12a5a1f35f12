#include "retrace/data/csv_store.h"

#include <fmt/format.h>

#include <set>

#include "retrace/data/array_store.h"
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
                                           .categorical = options.categorical,
                                           .empty = options.empty_cells,
                                           .categories = options.categories,
                                           .means = options.means,
                                           .cleans = true,
                                           .labels = classify});
    const auto targets = static_cast<int64_t>(table.targets.size());
    std::vector<std::string> names;
    if (classify) names = options.class_names.empty() ? classes_of(table) : options.class_names;
    const Tensor features = Tensor::from(table.features, {table.rows, table.width}, "BC");
    const Tensor target = classify ? Tensor::from(numbers_of_labels(table.labels, table.name, names), {table.rows}, "B")
                                   : Tensor::from(table.values, {table.rows, targets}, "BC");
    return {array_store({features, target}, {.files = {file}}),
            std::move(table.columns),
            std::move(table.targets),
            std::move(names),
            std::move(table.categories),
            std::move(table.means)};
  });
}

}  // namespace retrace
