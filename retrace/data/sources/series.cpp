#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/file.h"
#include "retrace/data/class_folders.h"
#include "retrace/data/csv_table.h"
#include "retrace/data/npy.h"
#include "retrace/data/padded_series.h"
#include "retrace/data/source_kind.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

const ClassFolderWords kSeries{"folder of series", "series", {".csv", ".npy"}};

fs::path folder_of_series(Split split, const SourceRequest& request) {
  return request.path / (split == Split::train ? "train" : "test");
}

Error wrong_series(const fs::path& path, const std::string& what) {
  return Error(ErrorKind::bad_data, 476, "a series " + what).where(printable(path.string()));
}

std::vector<float> read_npy_series(const fs::path& path, int64_t features) {
  const NpyArray array = read_npy(path);
  const bool single = array.shape.rank() == 1 && features == 1;
  if (!single && (array.shape.rank() != 2 || array.shape[1] != features))
    throw wrong_series(path, "has another shape")
        .got(array.text())
        .expected(fmt::format("[positions,{}]", features))
        .help("data.features is how many numbers each position has");
  std::vector<float> values = array.floats();
  const auto wrong = std::find_if_not(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
  if (wrong == values.end()) return values;
  throw wrong_series(path, "has numbers that are not finite")
      .got(fmt::format("{} at position {}", *wrong, (wrong - values.begin()) / features))
      .help("take the series away, or fill its gaps");
}

std::vector<float> read_csv_series(const fs::path& path, int64_t features) {
  const std::string text = read_file(path, "CSV file", kCsvLimit), name = path.string();
  CsvReader reader(text, name);
  if (reader.next() && std::ssize(reader.cells()) != features)
    throw wrong_series(path, fmt::format("has {} columns", reader.cells().size()))
        .expected(fmt::format("{}, as data.features says", features));
  return parse_csv_table(text, name,
                         {.header = has_csv_header(text, name, features), .features = features, .for_inputs = true})
      .features;
}

std::vector<float> read_series(const fs::path& path, int64_t features) {
  std::vector<float> values =
      path.extension() == ".npy" ? read_npy_series(path, features) : read_csv_series(path, features);
  if (values.empty()) throw wrong_series(path, "is empty").expected("one position or more").help("take the file away");
  return values;
}

LabelledSeries read_labelled_series(const ClassFile& file, int64_t length, int64_t features) {
  std::vector<float> values = read_series(file.path, features);
  values.resize(std::min(values.size(), static_cast<size_t>(length * features)));
  values.shrink_to_fit();
  return {std::move(values), file.number};
}

// Those of the training set.
std::vector<std::string> class_names_of_series(const SourceRequest& request) {
  const auto& known = request.training.class_names;
  return known.empty() ? classes_in(folder_of_series(Split::train, request), kSeries) : known;
}

Shape sample_of_series(const SourceRequest& request) {
  return {request.options.integer("length"), request.options.integer("features")};
}

SourceSet load_series(Split split, const SourceRequest& request) {
  const std::vector<std::string> classes = class_names_of_series(request);
  const Shape one = sample_of_series(request);
  std::vector<LabelledSeries> series;
  std::vector<std::string> files;
  for (const auto& file : files_of_classes(folder_of_series(split, request), classes, kSeries)) {
    series.push_back(read_labelled_series(file, one[0], one[1]));
    files.push_back(file.path.string());
  }
  return {padded_series(std::move(series), one[0], one[1], std::move(files)),
          std::ssize(classes),
          {.class_names = classes}};
}

// The names of files say all but their numbers.
SourceDescription description_of_series(Split split, const SourceRequest& request) {
  const std::vector<std::string> classes = class_names_of_series(request);
  const auto files = files_of_classes(folder_of_series(split, request), classes, kSeries);
  return {std::ssize(files),
          {{DType::f32, sample_of_series(request), Labels("TC"), {}}, {DType::i32, {}, {}, {}}},
          std::ssize(classes),
          {.class_names = classes}};
}

// The numbers at a position of a file.
int64_t features_of(const fs::path& path) {
  if (path.extension() == ".npy") {
    const NpyArray header = read_npy_header(path);
    return header.shape.rank() == 2 ? header.shape[1] : 1;
  }
  const std::string text = read_file(path, "CSV file", kCsvLimit);
  CsvReader reader(text, path.string());
  return reader.next() ? std::ssize(reader.cells()) : 1;
}

// The features of the first file, and the length of the longest.
OptionValues look_series(const fs::path& folder) {
  const fs::path train = folder / "train";
  const auto files = files_of_classes(train, classes_in(train, kSeries), kSeries);
  const int64_t features = std::max<int64_t>(1, features_of(files[0].path));
  int64_t length = 1;
  for (const auto& file : files) length = std::max(length, std::ssize(read_series(file.path, features)) / features);
  return {{"length", length}, {"features", features}};
}

SourceInputs inputs_of_series(const fs::path& input, const SourceRequest& request) {
  const Shape one = sample_of_series(request);
  std::vector<LabelledSeries> series;
  std::vector<std::string> names;
  for (const auto& file : files_to_predict(input, kSeries)) {
    series.push_back(read_labelled_series({file}, one[0], one[1]));
    names.push_back(file.string());
  }
  return {padded_series(std::move(series), one[0], one[1]), std::move(names)};
}

}  // namespace

SourceKind series_source() {
  constexpr double kMost = 1 << 24;
  return {.name = "series",
          .help =
              "series of numbers of classes: the files data.path/train/CLASS/*.csv (or .npy) and "
              "data.path/test/CLASS/*.csv",
          .targets = {{.name = "class"}},
          .reads_folder = true,
          .files = "train/CLASS and test/CLASS, folders of series",
          .options = {{.name = "length",
                       .help = "positions of a sample; NaN stands behind shorter series, longer ones are cut",
                       .standard = int64_t{256},
                       .low = 1,
                       .high = kMost},
                      {.name = "features",
                       .help = "numbers at a position: the columns of a file",
                       .standard = int64_t{1},
                       .low = 1,
                       .high = kMost}},
          .size_keys = "data.length and data.features",
          .sample = sample_of_series,
          .load = load_series,
          .description = description_of_series,
          .inputs = inputs_of_series,
          .class_names = class_names_of_series,
          .look = look_series,
          .origin = [](Split split, int, const SourceRequest& request) {
            return printable(folder_of_series(split, request).string());
          }};
}

}  // namespace retrace
