#include "retrace/train/prediction_inputs.h"

#include <fmt/format.h>

#include <numeric>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/data/array_store.h"
#include "retrace/data/csv_table.h"
#include "retrace/data/idx.h"
#include "retrace/data/image_fit.h"
#include "retrace/data/image_search.h"
#include "retrace/data/image_store.h"
#include "retrace/data/npy_store.h"
#include "retrace/data/npz_arrays.h"
#include "retrace/data/s3_copy.h"
#include "retrace/data/s3_files.h"
#include "retrace/data/tar.h"
#include "retrace/train/job_data.h"

namespace retrace {
namespace {

constexpr int64_t kBatch = 128;

Error not_for(const std::filesystem::path& input, const char* what = "images") {
  return Error(ErrorKind::bad_data, 320,
               fmt::format("\"{}\" does not hold {} for this network", printable(input.string()), what));
}

// An object that is no image and no archive is read from a copy.
std::filesystem::path file_of(const std::filesystem::path& location) {
  const std::string text = location.string();
  if (!is_s3(text) || has_wildcard(text) || is_image_name(location.filename().string()) ||
      is_archive_name(location.filename().string()))
    return location;
  return is_s3_object(text) ? local_copy(text) : location;
}

// A folder, an archive, a path with wildcards, or a file with the content or the name of an image.
bool is_image_files(const std::filesystem::path& input) {
  std::error_code ignored;
  if (is_s3(input.string())) return true;
  if (std::filesystem::is_directory(input, ignored) || archive_path(input.string())) return true;
  if (!std::filesystem::exists(input, ignored)) return input.string().find_first_of("*?") != std::string::npos;
  return is_image_name(input.filename().string()) || begins_as_image(input.string());
}

// What a sample of that shape is, with sizes of 0 for any.
bool fits(const Shape& found, const Shape& sample) {
  bool same = found.rank() == sample.rank();
  for (int i = 0; same && i < sample.rank(); ++i) same = sample[i] == 0 || sample[i] == found[i];
  return same;
}

std::string size_text(int64_t size) { return size == 0 ? "any" : fmt::format("{}", size); }

Datastore idx_store(const std::filesystem::path& input, const Shape& sample) {
  const IdxArray array = read_idx(input);
  const Error problem =
      not_for(input)
          .got(fmt::format("{}{}", name_of(array.type), array.shape.text()))
          .expected(fmt::format(
              "{}", sample[2] == 1
                        ? fmt::format("u8[n,{},{}]", size_text(sample[0]), size_text(sample[1]))
                        : fmt::format("images of {} in JPEG or PNG files: a folder of them", sample.text())));
  const bool grey = array.type == DType::u8 && array.shape.rank() == 3;
  if (!grey || !fits({array.shape[1], array.shape[2], 1}, sample)) throw problem;
  const auto values = array.values<uint8_t>();
  const Shape shape{array.shape[0], array.shape[1], array.shape[2], 1};
  return array_store({Tensor::from(std::vector<uint8_t>(values.begin(), values.end()), shape, "BSSC")},
                     {.scale_bytes = true});
}

int64_t categories_in(const TrainingFacts& table) {
  return std::accumulate(table.categories.begin(), table.categories.end(), int64_t{0},
                         [](int64_t sum, const auto& one) { return sum + static_cast<int64_t>(one.size()); });
}

// The columns that the job says, as far as they are there; the first line is a header if it holds names.
Datastore csv_inputs(const Job& job, const std::filesystem::path& input, const Shape& sample,
                     const TrainingFacts& table) {
  const std::string text = read_file(input, "CSV file", kCsvLimit);
  CsvColumns columns{.categories = table.categories, .means = table.means, .features = sample[0], .for_inputs = true};
  if (job.data.source == "csv") {
    columns.delimiter = csv_delimiter(job.data.options.text("delimiter"));
    columns.decimal = job.data.options.text("decimal")[0];
    columns.unknown_is_zeros = job.data.options.text("unknown_categories") == "zeros";
    columns.missing = job.data.options.texts("missing");
    columns.targets = job.data.options.texts("target_columns");
    columns.ignored = job.data.options.texts("ignored_columns");
    columns.empty = empty_csv_cells(job.data.options.text("empty_cells"));
    columns.dates = job.data.options.texts("date_columns");
    columns.date_options =
        CsvDateOptions::of(job.data.options.text("date_origin"), job.data.options.texts("date_parts"), Place());
  }
  const bool dated = !columns.dates.empty();
  const bool named = (dated || !table.categories.empty()) && are_csv_names(table.features);
  columns.header =
      named || dated ? named : has_csv_header(text, input.string(), sample[0] - categories_in(table), columns);
  if (columns.header && are_csv_names(table.features)) {
    columns.named = table.features;
    columns.targets.clear(), columns.ignored.clear();
  }
  const CsvTable read = parse_csv_table(text, input.string(), columns);
  return array_store({Tensor::from(read.features, {read.rows, read.width}, "BC")});
}

bool is_arrays(const std::filesystem::path& input) { return input.extension() == ".npy" || is_npz(input); }

// The inputs of a test set in an NPZ file, else the only inputs that it has.
std::filesystem::path inputs_in(const std::filesystem::path& file) {
  const auto names = npz_names(file);
  for (const char* const set : {"test", ""})
    if (const auto name = npz_array_of(names, set, NpzPart::inputs)) return file / (*name + ".npy");
  if (names.size() == 1) return file / (names[0] + ".npy");
  throw not_for(file, "inputs")
      .got(printable(fmt::format("the arrays {}", joined(names, ", "))))
      .expected("x_test or x, or one array")
      .help("name one of them: " + printable((file / (names.empty() ? "NAME" : names[0])).string()) + ".npy");
}

Datastore npy_inputs(const std::filesystem::path& input, const Shape& sample) {
  const std::filesystem::path array = is_npz(input) ? inputs_in(input) : input;
  const Datastore store = npy_store(array.string(), "", {.scale_bytes = true}, Place());
  if (store.size() == 0 || fits(store.get(0)[0].shape(), sample)) return store;
  throw not_for(input, "inputs")
      .got(fmt::format("samples of {}", store.get(0)[0].shape().text()))
      .expected(fmt::format("samples of {}", sample.text()));
}

// The samples before the transforms: as the job says them, else those of the network. A size that transforms make of
// any other is 0.
Shape sample_before(const Job& job, const Shape& sample) {
  Shape before = source_sample(job, source_of(job));
  const bool any = takes_any_size(job);
  for (int i = 0; i < before.rank(); ++i)
    if (before[i] == 0 && !(any && i < 2)) before[i] = sample[i];
  return before;
}

ImageFit fit_of(const Job& job) {
  const OptionValue* const fit = job.data.options.find("image_fit");
  return fit ? image_fit_of(std::get<std::string>(*fit)) : ImageFit::exact;
}

bool is_table(const std::filesystem::path& input) { return input.extension() == ".csv" || input.extension() == ".tsv"; }

// What networks of images read, and networks of features.
void check_ending(const std::filesystem::path& input, const nn::Network& network) {
  const bool images = network.sample.rank() == 3, csv = is_table(input);
  if (is_arrays(input) || csv != images) return;
  throw Error(ErrorKind::usage, 460,
              fmt::format("predict cannot read \"{}\" for network \"{}\", whose samples are {}",
                          printable(input.string()), network.name, network.sample.text()))
      .expected(images ? "an IDX, NPY or NPZ file, or files or a folder of images" : "a CSV, NPY or NPZ file");
}

void check_is_there(const std::filesystem::path& input) {
  const std::string text = input.string();
  std::error_code ignored;
  if (is_s3(text) || has_wildcard(text) || archive_path(text) || npz_place(input) ||
      std::filesystem::exists(input, ignored))
    return;
  throw missing_path(input, "input");
}

}  // namespace

PredictionInputs::PredictionInputs(const Job& given, const nn::Network& network, const std::filesystem::path& location,
                                   const TrainingFacts& table)
    : sample_(network.sample) {
  if (const SourceKind& source = source_of(given); source.inputs) {
    SourceRequest request = source_request(given, 0);
    request.training = table;
    SourceInputs inputs = source.inputs(location, request);
    files_ = std::move(inputs.files);
    store_ = inputs.store;
    queue_.emplace(*store_, MiniBatchQueueOptions{.mini_batch_size = kBatch, .outputs = 1});
    return;
  }
  check_ending(location, network);
  check_is_there(location);
  const std::filesystem::path input = file_of(location);
  const Job job = resolved(given);
  const Shape sample = sample_before(job, sample_);
  std::optional<Datastore> plain;
  if (is_table(input)) {
    plain = csv_inputs(job, input, sample_, table);
  } else if (is_arrays(input)) {
    plain = npy_inputs(input, sample);
  } else if (is_image_files(input)) {
    const ImageFit fit = sample[0] == 0 || sample[1] == 0 ? ImageFit::any : fit_of(job);
    const ImageDatastore images = image_datastore(
        input.string(),
        {.height = sample[0], .width = sample[1], .channels = sample[2], .fit = fit, .scale_bytes = true}, {});
    files_ = images.files();
    plain = images;
  } else {
    plain = idx_store(input, sample);
  }
  store_ = transformed(job, Split::test, *plain);
  queue_.emplace(*store_, MiniBatchQueueOptions{.mini_batch_size = kBatch, .outputs = 1});
}

std::optional<Tensor> PredictionInputs::next() {
  const bool empty = queue_->size() == 0 && !begun_;
  begun_ = true;
  if (empty) {
    Shape none{0};
    for (const int64_t size : sample_) none.push_back(size);
    return Tensor::zeros(none, DType::f32, sample_.rank() == 3 ? "BSSC" : sample_.rank() == 2 ? "BTC" : "BC");
  }
  if (!queue_->has_data()) return std::nullopt;
  return queue_->next<1>()[0];
}

}  // namespace retrace
