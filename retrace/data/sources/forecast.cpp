// Tables whose rows follow each other in time: later rows are learned from those before them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/data/csv_table.h"
#include "retrace/data/file_table.h"
#include "retrace/data/row_windows.h"
#include "retrace/data/source_kind.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;
using Names = std::vector<std::string>;

Names names_in(const std::string& text, const fs::path& table) {
  CsvReader reader(text, table.string());
  Names names = table_columns(reader, table);
  if (!names.empty()) names[0] = csv_name_of_first(names[0]);
  return names;
}

Names without(const Names& names, const Names& others) {
  Names kept;
  std::copy_if(names.begin(), names.end(), std::back_inserter(kept),
               [&](const std::string& name) { return std::find(others.begin(), others.end(), name) == others.end(); });
  return kept;
}

// A table, and how windows lie on it.
struct ReadRows {
  CsvTable table;
  WindowForm form;
  Names targets;
};

// `targets`: none named means the last feature.
WindowForm form_of(const OptionValues& options, const Names& features, Names& targets, const fs::path& table) {
  WindowForm form{.length = options.integer("length"),
                  .horizon = options.integer("horizon"),
                  .steps = options.integer("steps"),
                  .features = std::ssize(features)};
  if (targets.empty()) targets = {features.back()};
  for (const auto& name : targets) {
    const auto found = std::find(features.begin(), features.end(), name);
    if (found == features.end()) throw no_csv_column(name, features, table.string());
    form.targets.push_back(found - features.begin());
  }
  return form;
}

Error wrong_width(const fs::path& table, const Names& features, int64_t wanted) {
  return Error(ErrorKind::bad_data, 555, fmt::format("the table has {} columns of numbers", features.size()))
      .where(printable(table.string()))
      .got(printable(joined(features, ", ")))
      .expected(fmt::format("{}, as data.features says", wanted))
      .help(fmt::format("set data.features = {}, or name columns that are not used: data.ignored_columns",
                        features.size()));
}

// The first record says which columns hold something else.
void check_numbers(const fs::path& table, const std::string& text, const Names& features) {
  const Names names = names_in(text, table);
  CsvReader reader(text, table.string());
  if (!reader.next() || !reader.next()) return;
  for (size_t i = 0; i < std::min(names.size(), reader.cells().size()); ++i) {
    const CsvCell& cell = reader.cells()[i];
    if (cell.text.empty() || is_csv_number(cell.text) ||
        std::find(features.begin(), features.end(), names[i]) == features.end())
      continue;
    throw Error(ErrorKind::bad_data, 557, fmt::format("the column \"{}\" holds no numbers", printable(names[i])))
        .where(printable(reader.place(cell.position)))
        .got(printable(cell.text.substr(0, 40)))
        .help(fmt::format("leave it out: data.ignored_columns = [\"{}\"]", printable(names[i])));
  }
}

// Columns are those of the training set, where these are known.
ReadRows read_rows(const fs::path& table, const SourceRequest& request, const TrainingFacts& facts) {
  const OptionValues& options = request.options;
  const std::string text = read_file(table, "CSV file", kCsvLimit);
  const Names features =
      facts.features.empty() ? without(names_in(text, table), options.texts("ignored_columns")) : facts.features;
  const int64_t wanted = options.integer("features");
  if (features.empty() || (wanted > 0 && wanted != std::ssize(features))) throw wrong_width(table, features, wanted);
  ReadRows read{{}, {}, facts.targets.empty() ? options.texts("target_columns") : facts.targets};
  read.form = form_of(options, features, read.targets, table);
  check_numbers(table, text, features);
  read.table =
      parse_csv_table(text, table.string(), {.named = features, .for_inputs = true, .named_are_targets = true});
  return read;
}

void check_rows(const ReadRows& read, int64_t windows, int64_t least) {
  if (windows > 0) return;
  throw Error(ErrorKind::bad_data, 556, "the table has too few rows for one window")
      .where(printable(read.table.name))
      .got(fmt::format("{} rows", read.table.rows))
      .expected(fmt::format("{} or more: data.length and what is learned", least))
      .help("lower data.length, data.horizon or data.steps, or give more rows");
}

ReadRows read_rows(Split split, const SourceRequest& request) {
  TrainingFacts facts;
  if (split == Split::test) facts = request.training;
  if (split == Split::test && facts.features.empty()) {
    const ReadRows train = read_rows(table_of(Split::train, request), request, {});
    facts.features = train.table.columns, facts.targets = train.targets;
  }
  ReadRows read = read_rows(table_of(split, request), request, facts);
  const WindowForm& form = read.form;
  check_rows(read, form.windows(read.table.rows), form.length + form.horizon + form.steps - 1);
  return read;
}

// The last windows are for tests: nothing that is learned lies behind them.
TestParts last_windows(double share, int64_t windows) {
  TestParts parts;
  parts.train.resize(static_cast<size_t>(windows - test_samples_of(share, windows)));
  parts.test.resize(static_cast<size_t>(windows) - parts.train.size());
  std::iota(parts.train.begin(), parts.train.end(), 0);
  std::iota(parts.test.begin(), parts.test.end(), std::ssize(parts.train));
  return parts;
}

SourceSet load_forecast(Split split, const SourceRequest& request) {
  ReadRows read = read_rows(split, request);
  const int64_t windows = read.form.windows(read.table.rows);
  SourceSet set(row_windows(std::move(read.table.features), read.form, false, {read.table.name}), 0,
                {.features = read.table.columns, .targets = read.targets});
  if (request.whole && request.test_share > 0 && windows > 1) set.parts = last_windows(request.test_share, windows);
  return set;
}

SourceDescription description_of_forecast(Split split, const SourceRequest& request) {
  const ReadRows read = read_rows(split, request);
  const WindowForm& form = read.form;
  return {form.windows(read.table.rows),
          {{DType::f32, {form.length, form.features}, Labels("TC"), {}},
           {DType::f32, {form.steps * std::ssize(form.targets)}, Labels("C"), {}}},
          0,
          {.features = read.table.columns, .targets = read.targets}};
}

// All windows of a table: the last one forecasts what comes behind its end.
SourceInputs inputs_of_forecast(const fs::path& input, const SourceRequest& request) {
  if (input.extension() != ".csv")
    throw Error(ErrorKind::usage, 558, fmt::format("predict cannot read \"{}\"", printable(input.string())))
        .expected("a table, .csv, with the columns of the training set");
  ReadRows read = read_rows(input, request, request.training);
  check_rows(read, read.form.open_windows(read.table.rows), read.form.length);
  return {row_windows(std::move(read.table.features), read.form, true), {}};
}

// -- for retrace init -----------------------------------------------------------------------------------------------

// Columns that do not hold numbers alone.
Names columns_of_texts(const fs::path& table, const std::string& text, const Names& names) {
  CsvReader reader(text, table.string());
  Names texts;
  for (bool header = reader.next(); header && reader.next();)
    for (size_t i = 0; i < std::min(names.size(), reader.cells().size()); ++i)
      if (!is_csv_number(reader.cells()[i].text) && std::find(texts.begin(), texts.end(), names[i]) == texts.end())
        texts.push_back(names[i]);
  return texts;
}

DataLook look_forecast(const fs::path& path, const std::string& target) {
  const fs::path table = table_of(Split::train, {.path = path, .whole = true});
  const std::string text = read_file(table, "CSV file", kCsvLimit);
  const Names names = names_in(text, table), texts = columns_of_texts(table, text, names);
  const Names features = without(names, texts);
  if (features.empty()) throw missing_path(table, "table of numbers");
  if (!target.empty() && std::find(features.begin(), features.end(), target) == features.end())
    throw no_csv_column(target, features, table.string());
  const auto rows = std::count(text.begin(), text.end(), '\n');
  return {{{"length", std::clamp<int64_t>(rows / 4, 1, 24)},
           {"features", std::ssize(features)},
           {"ignored_columns", texts},
           {"target_columns", Names{target.empty() ? features.back() : target}}},
          {{"target_columns", "what is learned; retrace init --target NAME takes another column"},
           {"ignored_columns", "do not hold numbers alone"}}};
}

std::vector<OptionRule> rules_of_forecast() {
  constexpr double kMost = 1 << 24;
  const auto count = [&](const char* name, int64_t standard, const char* help) {
    return OptionRule{.name = name, .help = help, .standard = standard, .low = 1, .high = kMost};
  };
  return {count("length", 24, "rows that a sample sees"),
          count("horizon", 1, "rows from the last of these to the first that is learned"),
          count("steps", 1, "rows that are learned, one after another"),
          count("features", 1, "numbers of a row: the columns of the table that are used"),
          {.name = "target_columns",
           .help = "the columns that are learned; none: the last one",
           .standard = Names{},
           .may_be_empty = true},
          {.name = "ignored_columns",
           .help = "columns that are not used, such as dates",
           .standard = Names{},
           .may_be_empty = true}};
}

}  // namespace

SourceKind forecast_source() {
  return {.name = "forecast",
          .help =
              "the tables train.csv and test.csv of the folder data.path, whose rows follow each other in time: later "
              "values are learned from the rows before",
          .targets = {{.name = "value", .kind = nn::OutputKind::values}},
          .reads_folder = true,
          .forecasts = true,
          .files = "train.csv and test.csv, rows in the order of time",
          .options = rules_of_forecast(),
          .size_keys = "data.length and data.features",
          .sample =
              [](const SourceRequest& request) {
                return Shape{request.options.integer("length"), request.options.integer("features")};
              },
          .load = load_forecast,
          .description = description_of_forecast,
          .inputs = inputs_of_forecast,
          .look_for_target = look_forecast,
          .origin = [](Split split, int,
                       const SourceRequest& request) { return printable(table_of(split, request).string()); }};
}

}  // namespace retrace
