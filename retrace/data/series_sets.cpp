#include "retrace/data/series_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "retrace/base/file.h"
#include "retrace/data/label_classes.h"
#include "retrace/data/series_targets.h"
#include "retrace/data/transcripts.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

bool is_at_positions(SeriesTarget target) {
  return target == SeriesTarget::position_classes || target == SeriesTarget::position_values;
}

ReadSeries read_series_of_classes(Split split, const SourceRequest& request) {
  const auto& known = request.training.class_names;
  ReadSeries made;
  made.classes = known.empty() ? classes_in(folder_of_series(Split::train, request), series_words()) : known;
  for (const auto& file : files_of_classes(folder_of_series(split, request), made.classes, series_words())) {
    SeriesFile read = read_series_file(file.path, columns_of_series(request.options));
    add_series(made, file.path, {std::move(read.values), {file.number}, {}}, form_of_series(request.options));
  }
  return made;
}

// A table of values beside the files.
ReadSeries read_series_of_values(Split split, const SourceRequest& request) {
  const fs::path folder = folder_of_series(split, request);
  const auto files = files_of_series(folder);
  const auto& known = request.training.targets;
  const auto targets =
      read_file_targets(folder, files, known.empty() ? request.options.texts("target_columns") : known, false);
  ReadSeries made{.target_names = targets.names, .width = std::ssize(targets.names)};
  for (size_t i = 0; i < files.size(); ++i) {
    const auto own = targets.values.begin() + static_cast<ptrdiff_t>(i) * made.width;
    SeriesFile read = read_series_file(files[i], columns_of_series(request.options));
    add_series(made, files[i], {std::move(read.values), {}, {own, own + made.width}}, form_of_series(request.options));
  }
  made.files.push_back((folder / kTargetsFile).string());
  return made;
}

Error other_targets(const fs::path& path, const std::vector<std::string>& names,
                    const std::vector<std::string>& wanted) {
  return Error(ErrorKind::bad_data, 407, "a series has other columns of targets than the first one")
      .where(printable(path.string()))
      .got(fmt::format("{} of them", names.size()))
      .expected(fmt::format("{}", wanted.size()))
      .help("give all files the same columns, or name those that are learned: data.target_columns");
}

// The labels of all files of the training set.
std::vector<std::string> classes_at_positions(const SourceRequest& request) {
  if (!request.training.class_names.empty()) return request.training.class_names;
  std::set<std::string> labels;
  const fs::path folder = folder_of_series(Split::train, request);
  for (const auto& path : files_of_series(folder))
    for (const auto& label : read_series_file(path, columns_of_series(request.options)).labels)
      labels.insert(label.text);
  return classes_of_labels(labels, folder.string());
}

// Columns of the files themselves.
ReadSeries read_series_with_targets(Split split, const SourceRequest& request) {
  const SeriesForm form = form_of_series(request.options);
  SeriesColumns columns = columns_of_series(request.options);
  ReadSeries made;
  if (columns.labels) made.classes = classes_at_positions(request);
  for (const auto& path : files_of_series(folder_of_series(split, request))) {
    SeriesFile read = read_series_file(path, columns);
    if (made.target_names.empty()) made.target_names = read.target_names;
    if (read.target_names.size() != made.target_names.size())
      throw other_targets(path, read.target_names, made.target_names);
    TargetedSeries series{std::move(read.values), {}, std::move(read.targets)};
    if (columns.labels) series.numbers = numbers_of_labels(read.labels, printable(path.string()), made.classes);
    const auto length = static_cast<size_t>(form.length);
    series.numbers.resize(std::min(series.numbers.size(), length));
    series.targets.resize(std::min(series.targets.size(), length * made.target_names.size()));
    add_series(made, path, std::move(series), form);
  }
  made.width = std::ssize(made.target_names);
  return made;
}

std::vector<Transcript> transcripts_in(const fs::path& folder, const std::vector<fs::path>& files,
                                       const OptionValues& options) {
  const auto targets = read_file_targets(folder, files, options.texts("target_columns"), true);
  std::vector<Transcript> transcripts;
  for (size_t i = 0; i < files.size(); ++i) transcripts.push_back({targets.texts[i], files[i].string()});
  return transcripts;
}

std::vector<std::string> tokens_of_series(const SourceRequest& request) {
  if (!request.training.class_names.empty()) return request.training.class_names;
  const fs::path folder = folder_of_series(Split::train, request);
  const auto transcripts = transcripts_in(folder, files_of_series(folder), request.options);
  auto names = tokens_of_transcripts(transcripts, are_words(request.options));
  if (names.size() > 1) return names;
  throw Error(ErrorKind::bad_data, 429, "no series of the training set says a token")
      .where(printable((folder / kTargetsFile).string()))
      .expected("texts in the column of targets, some of them not empty");
}

void check_fits(const fs::path& path, const TargetedSeries& series, int64_t positions) {
  const int64_t least = least_positions(series.numbers);
  if (least <= positions) return;
  throw Error(ErrorKind::bad_data, 409, "a series is too short for its tokens")
      .where(printable(path.string()))
      .got(fmt::format("{} positions, {} tokens", positions, series.numbers.size()))
      .expected(fmt::format("{} positions or more: one for each token, and one between two that are equal", least))
      .help("take the series away, or raise data.length if it is cut there");
}

// A table of texts beside the files.
ReadSeries read_series_of_tokens(Split split, const SourceRequest& request) {
  const SeriesForm form = form_of_series(request.options);
  const fs::path folder = folder_of_series(split, request);
  const auto files = files_of_series(folder);
  const auto transcripts = transcripts_in(folder, files, request.options);
  ReadSeries made{.classes = tokens_of_series(request)};
  for (size_t i = 0; i < files.size(); ++i) {
    SeriesFile read = read_series_file(files[i], columns_of_series(request.options));
    TargetedSeries series{std::move(read.values), {}, {}};
    series.numbers = numbers_of_transcript(transcripts[i], made.classes, are_words(request.options));
    check_fits(files[i], series, std::min(std::ssize(series.values) / form.features, form.length));
    made.width = std::max(made.width, std::ssize(series.numbers));
    add_series(made, files[i], std::move(series), form);
  }
  made.files.push_back((folder / kTargetsFile).string());
  return made;
}

}  // namespace

const ClassFolderWords& series_words() {
  static const ClassFolderWords words{"folder of series", "series", {".csv", ".npy"}};
  return words;
}

fs::path folder_of_series(Split split, const SourceRequest& request) {
  return set_of_classes(split, request, series_words());
}

SeriesTarget target_of_series(const OptionValues& options) {
  const std::string& targets = options.text("targets");
  const bool values = options.text("task") == "regression";
  if (targets == "tokens") return SeriesTarget::tokens;
  if (targets == "positions") return values ? SeriesTarget::position_values : SeriesTarget::position_classes;
  return values ? SeriesTarget::series_values : SeriesTarget::series_class;
}

SeriesColumns columns_of_series(const OptionValues& options) {
  const SeriesTarget target = target_of_series(options);
  return {.features = options.integer("features"),
          .targets = options.texts("target_columns"),
          .ignored = options.texts("ignored_columns"),
          .at_positions = is_at_positions(target),
          .labels = target == SeriesTarget::position_classes};
}

SeriesForm form_of_series(const OptionValues& options) {
  return {.length = options.integer("length"),
          .features = options.integer("features"),
          .target = target_of_series(options)};
}

bool are_words(const OptionValues& options) { return options.text("tokens") == "words"; }

// The files of a folder but the table of their targets.
std::vector<fs::path> files_of_series(const fs::path& folder) {
  std::vector<fs::path> files = class_files_in(folder, series_words());
  std::erase_if(files, [](const fs::path& file) { return file.filename() == kTargetsFile; });
  if (files.empty()) throw missing_path(folder / "*.csv", series_words().file.c_str());
  return files;
}

void add_series(ReadSeries& made, const fs::path& path, TargetedSeries series, const SeriesForm& form) {
  series.values.resize(std::min(series.values.size(), static_cast<size_t>(form.length * form.features)));
  series.values.shrink_to_fit();
  made.series.push_back(std::move(series));
  made.files.push_back(path.string());
}

ReadSeries read_series(Split split, const SourceRequest& request) {
  switch (target_of_series(request.options)) {
    case SeriesTarget::series_class: return read_series_of_classes(split, request);
    case SeriesTarget::series_values: return read_series_of_values(split, request);
    case SeriesTarget::tokens: return read_series_of_tokens(split, request);
    default: return read_series_with_targets(split, request);
  }
}

std::vector<std::string> class_names_of_series(const SourceRequest& request) {
  switch (target_of_series(request.options)) {
    case SeriesTarget::position_classes: return classes_at_positions(request);
    case SeriesTarget::tokens: return tokens_of_series(request);
    case SeriesTarget::series_class: break;
    default: return {};
  }
  const auto& known = request.training.class_names;
  return known.empty() ? classes_in(folder_of_series(Split::train, request), series_words()) : known;
}

}  // namespace retrace
