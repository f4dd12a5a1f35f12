#include "retrace/train/prediction_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "retrace/base/file.h"
#include "retrace/data/image_file.h"
#include "retrace/data/png_encoder.h"
#include "retrace/data/resize.h"
#include "retrace/train/class_pictures.h"
#include "retrace/train/run_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

bool is_picture(const nn::NetworkOutput& output) {
  return output.kind == nn::OutputKind::image || output.kind == nn::OutputKind::pixel_scores;
}

bool resizes(const Job& job) {
  const OptionValue* const fit = job.data.options.find("image_fit");
  return fit && std::get<std::string>(*fit) == "resize";
}

bool is_same(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  return fs::weakly_canonical(one, ignored) == fs::weakly_canonical(other, ignored);
}

void check_folder(const fs::path& folder, const fs::path& input) {
  std::error_code ignored;
  Error error(ErrorKind::usage, 573, fmt::format("\"{}\" cannot take predicted images", printable(folder.string())));
  error.help("name a folder of its own: --out masks");
  if (is_run(folder)) throw error.got("the folder of a run");
  const fs::path around = fs::is_directory(input, ignored) ? input
                          : input.parent_path().empty()    ? "."
                                                           : input.parent_path();
  if (is_same(folder, around)) throw error.got("the folder of the input");
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored)) throw error.got("a file");
}

std::string image_png(const Tensor& image) {
  std::vector<uint8_t> bytes;
  for (const float value : image.to_vector<float>())
    bytes.push_back(value > 0 ? static_cast<uint8_t>(std::min(value, 1.0f) * 255 + 0.5f) : 0);
  return encode_png(bytes, image.shape()[0], image.shape()[1], image.shape()[2]);
}

void check_channels(const nn::NetworkOutput& output, int64_t channels) {
  if (output.kind != nn::OutputKind::image || channels == 1 || channels == 3) return;
  throw Error(ErrorKind::usage, 574, fmt::format("the output \"{}\" cannot be written as an image", output.name))
      .got(fmt::format("{} channels", channels))
      .expected("1 (grey) or 3 (red, green, blue)");
}

}  // namespace

bool makes_images(const nn::Network& network) {
  return !network.outputs.empty() && std::all_of(network.outputs.begin(), network.outputs.end(), is_picture);
}

PredictionImages::PredictionImages(const Job& job, const nn::Network& network, const PredictionInputs& inputs,
                                   ClassNames classes, fs::path input, fs::path folder)
    : network_(network),
      inputs_(inputs),
      classes_(std::move(classes)),
      input_(std::move(input)),
      folder_(std::move(folder)),
      resized_(resizes(job)) {
  check_folder(folder_, input_);
}

// Without its ending.
std::string PredictionImages::name_of(int64_t sample) const {
  if (inputs_.files().empty()) return fmt::format("{:06}", sample);
  const std::string& file = inputs_.files()[static_cast<size_t>(sample)];
  const std::string folder = input_.string();
  const bool below = file.size() > folder.size() && file.starts_with(folder) && file[folder.size()] == '/';
  const fs::path name = below ? file.substr(folder.size() + 1) : fs::path(file).filename().string();
  return (name.parent_path() / name.stem()).string();
}

Tensor PredictionImages::in_full_size(const Tensor& image, int64_t sample) const {
  std::error_code ignored;
  if (!resized_ || inputs_.files().empty()) return image;
  const std::string& file = inputs_.files()[static_cast<size_t>(sample)];
  if (!fs::is_regular_file(file, ignored)) return image;  // in an archive, or a bucket
  const ImageInfo sizes = image_info(file);
  const bool same = sizes.height == image.shape()[0] && sizes.width == image.shape()[1];
  return same ? image : resized(image, sizes.height, sizes.width, Interpolation::bilinear);
}

std::string PredictionImages::png_of(const nn::NetworkOutput& output, std::span<const float> values, const Shape& shape,
                                     int64_t sample) const {
  if (output.kind == nn::OutputKind::image)
    return image_png(
        in_full_size(Tensor::from(std::vector<float>(values.begin(), values.end()), shape, "SSC"), sample));
  const auto numbers = highest_classes(values, shape[2]);
  const Tensor made = in_full_size(Tensor::from(numbers, {shape[0], shape[1], 1}, "SSC"), sample);
  return class_png(made.to_vector<int32_t>(), made.shape()[0], made.shape()[1], colours_of_classes(classes_, shape[2]));
}

void PredictionImages::write(const nn::NetworkOutput& output, int64_t sample, const std::string& png) {
  const std::string end = network_.outputs.size() > 1 ? "_" + output.name + ".png" : ".png";
  const fs::path file = folder_ / (name_of(sample) + end);
  if (!written_.insert(file.string()).second)
    throw Error(ErrorKind::usage, 575, fmt::format("two images would be written to \"{}\"", printable(file.string())))
        .help("give files that are to be predicted together different names");
  std::error_code failure;
  fs::create_directories(file.parent_path(), failure);
  if (failure) throw write_failed(file.parent_path(), failure.value());
  const std::string_view whole = png;
  write_file_whole(file, std::span(&whole, 1), Lasting::process);
}

void PredictionImages::add(const Tree& y, int64_t count) {
  for (const auto& output : network_.outputs) {
    const Tensor& one = y[output.name].tensor();
    const Shape shape = sample_shape(one.shape());
    check_channels(output, shape[2]);
    const auto values = one.to_vector<float>();
    const auto size = static_cast<size_t>(shape.count());
    for (int64_t i = 0; i < count; ++i) {
      const auto own = std::span(values).subspan(static_cast<size_t>(i) * size, size);
      write(output, samples_ + i, png_of(output, own, shape, samples_ + i));
    }
  }
  samples_ += count;
}

}  // namespace retrace
