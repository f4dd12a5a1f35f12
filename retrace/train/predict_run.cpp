#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/data/idx.h"
#include "retrace/trace/record.h"
#include "retrace/train/job_data.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/train_job.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

constexpr int64_t kBatch = 128;

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

std::string header_of(bool angle) {
  std::string text = "index,class";
  for (int c = 0; c < 10; ++c) text += fmt::format(",score_{}", c);
  return text + (angle ? ",angle\n" : "\n");
}

}  // namespace

Prediction predict_run(const std::filesystem::path& run, const std::filesystem::path& input) {
  const FloatingPointScope floating_point;
  check_run_folder(run);
  const Job job = read_run_job(run);
  if (job.network.name != "digits")
    throw Error(ErrorKind::usage, 422,
                fmt::format("predict reads images for the network \"digits\"; this run has \"{}\"", job.network.name));
  const nn::Network network = make_job_network(job);
  const auto [parameters, state] = from_safetensors(read_run_weights(run), {network.parameters, network.state},
                                                    (run / "weights.safetensors").string());
  const ImageSet images = read_images(input, network.sample);
  const bool angle = network.outputs.size() > 1;
  std::string text = header_of(angle);
  for (int64_t first = 0; first < images.count; first += kBatch) {
    const int64_t count = std::min(kBatch, images.count - first);
    const Tree y = network.model(parameters, image_batch(images, first, count), state, Phase::inference).y;
    evaluate();
    const auto scores = y["class"].tensor().to_vector<float>();
    const auto angles = angle ? y["angle"].tensor().to_vector<float>() : std::vector<float>();
    for (int64_t i = 0; i < count; ++i) {
      const auto row = scores.begin() + i * 10;
      text += fmt::format("{},{}", first + i, std::max_element(row, row + 10) - row);
      for (int c = 0; c < 10; ++c) text += "," + number_text(row[c]);
      if (angle) text += "," + number_text(angles[static_cast<size_t>(i)]);
      text += "\n";
    }
  }
  return {images.count, text};
}

int64_t predict_run(const std::filesystem::path& run, const std::filesystem::path& input,
                    const std::filesystem::path& output) {
  check_run_output(output, input);
  const Prediction found = predict_run(run, input);
  write_file_whole(output, found.csv);
  return found.rows;
}

}  // namespace retrace
