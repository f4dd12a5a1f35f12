#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "retrace/base/file.h"
#include "retrace/data/file_table.h"
#include "retrace/data/label_classes.h"
#include "retrace/data/npy.h"
#include "retrace/data/series_sets.h"
#include "retrace/data/series_targets.h"
#include "retrace/data/source_kind.h"
#include "retrace/data/transcripts.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

bool has_series_target(const SourceTarget& target, const OptionValues& options) {
  switch (target_of_series(options)) {
    case SeriesTarget::series_values: return target.kind == nn::OutputKind::values;
    case SeriesTarget::position_classes: return target.kind == nn::OutputKind::series_scores;
    case SeriesTarget::position_values: return target.kind == nn::OutputKind::series_values;
    case SeriesTarget::tokens: return target.kind == nn::OutputKind::token_scores;
    default: return target.kind == nn::OutputKind::class_scores;
  }
}

// Names of columns are kept with those of the features, which have none of their own.
TrainingFacts facts_of(const ReadSeries& read, const SourceRequest& request) {
  TrainingFacts facts{.class_names = read.classes};
  if (target_of_series(request.options) != SeriesTarget::series_values) return facts;
  facts.targets = read.target_names;
  for (int64_t i = 1; i <= request.options.integer("features"); ++i) facts.features.push_back(fmt::format("{}", i));
  return facts;
}

SourceSet load_series(Split split, const SourceRequest& request) {
  ReadSeries read = read_series(split, request);
  const TrainingFacts facts = facts_of(read, request);
  SeriesForm form = form_of_series(request.options);
  form.width = read.width;
  return {padded_series(std::move(read.series), form, std::move(read.files)), std::ssize(facts.class_names), facts};
}

Shape sample_of_series(const SourceRequest& request) {
  return {request.options.integer("length"), request.options.integer("features")};
}

// The names of files say all but their numbers, where folders are classes; else the files are read.
SourceDescription description_of_series(Split split, const SourceRequest& request) {
  if (target_of_series(request.options) != SeriesTarget::series_class) {
    const SourceSet set = load_series(split, request);
    SourceDescription made{set.store.size(), {}, set.classes, set.facts};
    for (const Tensor& variable : set.store.get(0)) made.variables.push_back(variable.spec());
    return made;
  }
  const auto classes = class_names_of_series(request);
  const auto files = files_of_classes(folder_of_series(split, request), classes, series_words());
  return {std::ssize(files),
          {{DType::f32, sample_of_series(request), Labels("TC"), {}}, {DType::i32, {}, {}, {}}},
          std::ssize(classes),
          {.class_names = classes}};
}

// The longest of these files.
int64_t longest_of(const std::vector<fs::path>& files, const SeriesColumns& columns) {
  int64_t length = 1;
  for (const auto& path : files)
    length = std::max(length, std::ssize(read_series_file(path, columns).values) / columns.features);
  return length;
}

bool has_folders(const fs::path& folder) {
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) throw missing_path(folder, series_words().folder.c_str());
  return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) { return entry.is_directory(); });
}

// The last column of the files is learned: names or few whole numbers, which are classes, or others.
OptionValues look_at_positions(const std::vector<fs::path>& files, int64_t features) {
  SeriesColumns columns{.features = features, .at_positions = true};
  const auto options = [&](const char* task) {
    return OptionValues{{"length", longest_of(files, columns)},
                        {"features", features},
                        {"targets", std::string("positions")},
                        {"task", std::string(task)}};
  };
  try {
    columns.labels = true;
    std::set<std::string> labels;
    for (const auto& path : files)
      for (const auto& label : read_series_file(path, columns).labels) labels.insert(label.text);
    if (are_class_labels(labels)) return options("classification");
  } catch (const Error& error) {
    if (error.code() != 408) throw;  // numbers in NPY files that are no classes
  }
  columns.labels = false;
  return options("regression");
}

// An array of more axes holds a volume.
bool is_volume(const fs::path& path) { return path.extension() == ".npy" && read_npy_header(path).shape.rank() > 2; }

// What the folders, or the table beside the files, say.
OptionValues look_series(const fs::path& folder) {
  const fs::path train = folder_of_series(Split::train, {.path = folder});
  if (has_folders(train)) {
    std::vector<fs::path> files;
    for (const auto& file : files_of_classes(train, classes_in(train, series_words()), series_words()))
      files.push_back(file.path);
    if (is_volume(files[0])) throw missing_path(train / "CLASS/*.csv", series_words().file.c_str());
    const int64_t features = std::max<int64_t>(1, width_of_series(files[0]));
    return {{"length", longest_of(files, {.features = features})}, {"features", features}};
  }
  const auto files = files_of_series(train);
  const int64_t columns = std::max<int64_t>(1, width_of_series(files[0]));
  std::error_code failure;
  if (!fs::exists(train / kTargetsFile, failure)) return look_at_positions(files, std::max<int64_t>(1, columns - 1));
  const auto targets = look_at_file_table(train / kTargetsFile, "file");
  const auto text = std::find_if(targets.begin(), targets.end(), [](const TargetColumn& one) { return !one.numbers; });
  OptionValues options{{"length", longest_of(files, {.features = columns})}, {"features", columns}};
  if (text == targets.end()) {
    options.set("task", std::string("regression"));
    return options;
  }
  options.set("targets", std::string("tokens"));
  if (targets.size() > 1) options.set("target_columns", std::vector<std::string>{text->name});
  return options;
}

SourceInputs inputs_of_series(const fs::path& input, const SourceRequest& request) {
  SeriesForm form = form_of_series(request.options);
  form.target = SeriesTarget::series_class;
  const SeriesColumns columns = columns_of_series(request.options);
  ReadSeries made;
  for (const auto& file : files_to_predict(input, series_words())) {
    if (file.filename() == kTargetsFile && file != input) continue;
    add_series(made, file, {read_series_file(file, columns, true).values, {0}, {}}, form);
  }
  return {padded_series(std::move(made.series), form), std::move(made.files)};
}

std::vector<OptionRule> rules_of_series() {
  constexpr double kMost = 1 << 24;
  const std::vector<std::string> none;
  return {{.name = "length",
           .help = "positions of a sample; NaN stands behind shorter series, longer ones are cut",
           .standard = int64_t{256},
           .low = 1,
           .high = kMost},
          {.name = "features",
           .help = "numbers at a position: the columns of a file",
           .standard = int64_t{1},
           .low = 1,
           .high = kMost},
          {.name = "task",
           .help = "what is learned: a class or values",
           .standard = std::string("classification"),
           .choices = {"classification", "regression"}},
          {.name = "targets",
           .help = "what has a target: each series, or each of its positions; or tokens: a text is learned, by ctc",
           .standard = std::string("series"),
           .choices = {"series", "positions", "tokens"}},
          {.name = "tokens",
           .help = "of a text that is learned: its characters, or its words",
           .standard = std::string("characters"),
           .choices = {"characters", "words"}},
          {.name = "target_columns",
           .help = "the columns that are learned, of targets.csv or of the files; none: all, or the last one",
           .standard = none,
           .may_be_empty = true},
          {.name = "ignored_columns",
           .help = "columns of the files that are not used",
           .standard = none,
           .may_be_empty = true}};
}

}  // namespace

SourceKind series_source() {
  using nn::OutputKind;
  return {.name = "series",
          .help =
              "series of numbers: the files data.path/train/CLASS/*.csv (or .npy) and data.path/test/CLASS/*.csv, or "
              "data.path/CLASS/*.csv with data.test_share, or data.path/train/*.csv with targets",
          .targets = {{.name = "class"},
                      {.name = "value", .kind = OutputKind::values},
                      {.name = "class", .kind = OutputKind::series_scores},
                      {.name = "value", .kind = OutputKind::series_values},
                      {.name = "token", .kind = OutputKind::token_scores}},
          .reads_folder = true,
          .files = "train/CLASS and test/CLASS, or CLASS alone, folders of series",
          .options = rules_of_series(),
          .has_target = has_series_target,
          .size_keys = "data.length and data.features",
          .sample = sample_of_series,
          .load = load_series,
          .description = description_of_series,
          .inputs = inputs_of_series,
          .class_names = class_names_of_series,
          .look = look_series,
          .origin = [](Split split, int,
                       const SourceRequest& request) { return printable(folder_of_series(split, request).string()); },
          .text_of_tokens = [](const std::vector<std::string>& tokens,
                               const OptionValues& options) { return text_of_tokens(tokens, are_words(options)); }};
}

}  // namespace retrace
