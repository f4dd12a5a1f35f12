#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/data/array_store.h"
#include "retrace/data/idx.h"
#include "retrace/trace/record.h"
#include "retrace/train/job_data.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/train_job.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

constexpr int64_t kBatch = 128;

// Images as they are given to the network: with the transforms that the job has for every set.
class NetworkInputs {
 public:
  NetworkInputs(const Job& given, const ImageSet& images) : images_(images) {
    const Job job = resolved(given);
    const Shape shape{images.count, images.height, images.width, 1};
    const Datastore plain = array_store({Tensor::from(images.pixels, shape, "BSSC")}, {.scale_bytes = true});
    source_ = transformed(job, Split::test, plain).source();
  }
  // f32 [count,height,width,1] "BSSC"
  Tensor batch(int64_t first, int64_t count) const {
    if (count == 0) return image_batch(images_, 0, 0);
    std::vector<int64_t> indices(static_cast<size_t>(count));
    std::iota(indices.begin(), indices.end(), first);
    return source_->gather(indices, 0, 1).front();
  }

 private:
  const ImageSet& images_;
  std::shared_ptr<const DataSource> source_;
};

ImageSet read_images(const std::filesystem::path& input, const Shape& sample) {
  IdxArray array = read_idx(input);
  const bool fits =
      array.type == DType::u8 && array.shape.rank() == 3 && array.shape[1] == sample[0] && array.shape[2] == sample[1];
  if (!fits)
    throw Error(ErrorKind::bad_data, 320,
                fmt::format("\"{}\" does not hold images for this network", printable(input.string())))
        .got(fmt::format("{}{}", name_of(array.type), array.shape.text()))
        .expected(fmt::format("u8[n,{},{}]", sample[0], sample[1]));
  ImageSet images;
  images.count = array.shape[0], images.height = array.shape[1], images.width = array.shape[2];
  const auto values = array.values<uint8_t>();
  images.pixels.assign(values.begin(), values.end());
  return images;
}

std::string number_text(float value) {  // the shortest text that reads back to the same bits
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

// Images of IDX files have one channel; a row of a table is no image.
void check_predictable(const nn::Network& network) {
  const bool reads = network.sample.rank() == 3 && network.sample[2] == 1;
  const bool tells = std::none_of(network.outputs.begin(), network.outputs.end(),
                                  [](const auto& output) { return output.kind == nn::OutputKind::image; });
  if (reads && tells) return;
  throw Error(ErrorKind::usage, 422,
              fmt::format("predict reads grey images and writes classes and values; network \"{}\" {}", network.name,
                          reads ? "makes images" : fmt::format("reads samples of {}", network.sample.text())));
}

// The columns of the outputs for some samples, and their values row by row.
class PredictionTable {
 public:
  explicit PredictionTable(const nn::Network& network) : network_(network) {}

  void add(const Tree& y, int64_t count) {
    if (csv_.empty()) csv_ = header(y);
    std::vector<std::vector<float>> values;
    for (const auto& output : network_.outputs) values.push_back(y[output.name].tensor().to_vector<float>());
    for (int64_t i = 0; i < count; ++i) add_row(values, count, i);
  }
  int64_t rows() const { return rows_; }
  std::string take() { return std::move(csv_); }

 private:
  bool is_class(size_t output) const { return network_.outputs[output].kind == nn::OutputKind::class_scores; }

  std::string header(const Tree& y) const {
    std::string text = "index";
    for (size_t k = 0; k < network_.outputs.size(); ++k) {
      const std::string& name = network_.outputs[k].name;
      const int64_t width = y[name].tensor().shape().back();
      if (is_class(k)) text += "," + name;
      for (int64_t c = 0; c < width; ++c)
        text += is_class(k)  ? fmt::format(",{}score_{}", k == 0 ? "" : name + "_", c)
                : width == 1 ? "," + name
                             : fmt::format(",{}_{}", name, c);
    }
    return text + "\n";
  }

  void add_row(const std::vector<std::vector<float>>& values, int64_t count, int64_t i) {
    csv_ += fmt::format("{}", rows_++);
    for (size_t k = 0; k < values.size(); ++k) {
      const auto width = static_cast<int64_t>(values[k].size()) / count;
      const auto row = values[k].begin() + i * width;
      if (is_class(k)) csv_ += fmt::format(",{}", std::max_element(row, row + width) - row);
      for (int64_t c = 0; c < width; ++c) csv_ += "," + number_text(row[c]);
    }
    csv_ += "\n";
  }

  const nn::Network& network_;
  std::string csv_;
  int64_t rows_ = 0;
};

}  // namespace

Prediction predict_run(const std::filesystem::path& run, const std::filesystem::path& input) {
  const FloatingPointScope floating_point;
  check_run_folder(run);
  const Job job = read_run_job(run);
  const nn::Network network = make_job_network(job);
  check_predictable(network);
  const auto [parameters, state] = from_safetensors(read_run_weights(run), {network.parameters, network.state},
                                                    (run / "weights.safetensors").string());
  const ImageSet images = read_images(input, network.sample);
  const NetworkInputs inputs(job, images);
  PredictionTable table(network);
  for (int64_t first = 0; first == 0 || first < images.count; first += kBatch) {
    const int64_t count = std::min(kBatch, images.count - first);
    const Tree y = network.forward(inputs.batch(first, count), parameters, state, Phase::inference).y;
    evaluate();
    table.add(y, count);
  }
  return {table.rows(), table.take()};
}

int64_t predict_run(const std::filesystem::path& run, const std::filesystem::path& input,
                    const std::filesystem::path& output) {
  check_run_output(output, input);
  const Prediction found = predict_run(run, input);
  write_file_whole(output, found.csv);
  return found.rows;
}

}  // namespace retrace
