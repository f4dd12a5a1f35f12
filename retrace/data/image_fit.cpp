#include "retrace/data/image_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/fp_environment.h"
#include "retrace/data/resize.h"

namespace retrace {
namespace {

constexpr int kBits = 22;  // of the weights of resizing, after the point

// The weights of a window as whole numbers, whose sum is about 2^kBits.
std::vector<int64_t> whole_weights(const ResizeWindow& window) {
  const FloatingPointScope floating_point;
  std::vector<int64_t> weights;
  for (const double weight : window.weights)
    weights.push_back(static_cast<int64_t>(weight / window.sum * (int64_t{1} << kBits) + 0.5));
  return weights;
}

struct WholeWindow {
  int64_t first;
  std::vector<int64_t> weights;
};

std::vector<WholeWindow> windows_of(int64_t from, int64_t to) {
  std::vector<WholeWindow> windows;
  for (const auto& window : resize_windows(from, to)) windows.push_back({window.first, whole_weights(window)});
  return windows;
}

// Resizes the middle axis of values of outer x from x inner.
std::vector<uint8_t> resized_axis(const std::vector<uint8_t>& values, int64_t outer, int64_t from, int64_t to,
                                  int64_t inner) {
  if (from == to) return values;
  const auto windows = windows_of(from, to);
  std::vector<uint8_t> out(static_cast<size_t>(outer * to * inner));
  uint8_t* next = out.data();
  for (int64_t o = 0; o < outer; ++o)
    for (const auto& window : windows)
      for (int64_t c = 0; c < inner; ++c) {
        const uint8_t* value = values.data() + (o * from + window.first) * inner + c;
        int64_t sum = int64_t{1} << (kBits - 1);
        for (const int64_t weight : window.weights) sum += weight * *value, value += inner;
        *next++ = static_cast<uint8_t>(std::clamp<int64_t>(sum >> kBits, 0, 255));
      }
  return out;
}

ImagePixels resized(const ImagePixels& image, int64_t height, int64_t width) {
  const auto& [from_height, from_width, channels] = image.info;
  auto values = resized_axis(image.values, from_height, from_width, width, channels);
  values = resized_axis(values, 1, from_height, height, width * channels);
  return {{height, width, channels}, std::move(values)};
}

ImagePixels middle(const ImagePixels& image, int64_t height, int64_t width) {
  const auto& [from_height, from_width, channels] = image.info;
  ImagePixels part{{height, width, channels}, {}};
  const int64_t top = (from_height - height) / 2, left = (from_width - width) / 2;
  for (int64_t y = 0; y < height; ++y) {
    const auto row = image.values.begin() + ((top + y) * from_width + left) * channels;
    part.values.insert(part.values.end(), row, row + width * channels);
  }
  return part;
}

ImagePixels with_channels(const ImagePixels& image, int64_t channels) {
  ImagePixels made{{image.info.height, image.info.width, channels}, {}};
  made.values.reserve(static_cast<size_t>(image.info.height * image.info.width * channels));
  if (channels == 3)
    for (const uint8_t value : image.values) made.values.insert(made.values.end(), 3, value);
  else
    for (size_t i = 0; i < image.values.size(); i += 3)
      made.values.push_back(static_cast<uint8_t>(
          (299 * image.values[i] + 587 * image.values[i + 1] + 114 * image.values[i + 2] + 500) / 1000));
  return made;
}

std::string text_of(const ImageInfo& sizes) {
  return fmt::format("{} x {} pixels (height x width)", sizes.height, sizes.width);
}

}  // namespace

ImageFit image_fit_of(std::string_view choice) {
  return choice == "resize" ? ImageFit::resize : choice == "center-crop" ? ImageFit::center_crop : ImageFit::exact;
}

ImagePixels fitted(ImagePixels image, const ImageInfo& wanted, ImageFit fit, std::string_view name) {
  const ImageInfo& found = image.info;
  if (fit != ImageFit::any && (found.height != wanted.height || found.width != wanted.width)) {
    if (fit == ImageFit::exact)
      throw Error(ErrorKind::bad_data, 341, fmt::format("the image \"{}\" has the wrong size", name))
          .got(text_of(found))
          .expected(text_of(wanted))
          .help("set fit to resize or center_crop (in a job data.image_fit = \"resize\" or \"center-crop\")");
    if (fit == ImageFit::center_crop && (found.height < wanted.height || found.width < wanted.width))
      throw Error(ErrorKind::bad_data, 341,
                  fmt::format("the image \"{}\" is smaller than the part that is cut out of it", name))
          .got(text_of(found))
          .expected("at least " + text_of(wanted))
          .help("set fit to resize (in a job data.image_fit = \"resize\"), or ask for a smaller part");
    image = fit == ImageFit::resize ? resized(image, wanted.height, wanted.width)
                                    : middle(image, wanted.height, wanted.width);
  }
  return image.info.channels == wanted.channels ? std::move(image) : with_channels(image, wanted.channels);
}

}  // namespace retrace
