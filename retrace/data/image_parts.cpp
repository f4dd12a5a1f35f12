#include "retrace/data/image_parts.h"

#include <fmt/format.h>

#include <cstring>

#include "retrace/data/stack.h"

namespace retrace {

std::vector<OptionRule> crop_rules() {
  return {{.name = "crop_height",
           .help = "of the part that is cut out; 0: as crop_width",
           .standard = int64_t{0},
           .high = 65535},
          {.name = "crop_width",
           .help = "of the part that is cut out; 0: as crop_height",
           .standard = int64_t{0},
           .high = 65535}};
}

Crop::Crop(const OptionValues& options, std::string caller)
    : caller_(std::move(caller)), height_(options.integer("crop_height")), width_(options.integer("crop_width")) {
  if (height_ == 0) height_ = width_;
  if (width_ == 0) width_ = height_;
  if (height_ > 0) return;
  throw Error(ErrorKind::usage, 383, fmt::format("{}: the size of the part is not given", caller_))
      .help("set crop_height, crop_width, or both (in a job data.crop_height, data.crop_width)");
}

Shape Crop::shape(const Shape& image) const {
  const bool fits = (image[0] == 0 || image[0] >= height_) && (image[1] == 0 || image[1] >= width_);
  if (!fits)
    throw Error(ErrorKind::usage, 382, fmt::format("{}: the image is smaller than the part", caller_))
        .got(fmt::format("an image of {} x {} pixels (height x width)", image[0], image[1]))
        .expected(fmt::format("at least {} x {}", height_, width_))
        .help("put the transform \"resize\" before it, or cut out a smaller part");
  return {height_, width_, image[2]};
}

Tensor Crop::cut(const Tensor& image, int64_t top, int64_t left) const {
  const BlankTensor part(TensorSpec{image.type(), shape(image.shape()), Labels("SSC"), {}});
  const size_t pixel = static_cast<size_t>(image.shape()[2]) * size_of(image.type());
  const size_t row = static_cast<size_t>(width_) * pixel;
  const auto* from = static_cast<const std::byte*>(image.data());
  for (int64_t y = 0; y < height_; ++y)
    std::memcpy(part.bytes + static_cast<size_t>(y) * row,
                from + static_cast<size_t>((top + y) * image.shape()[1] + left) * pixel, row);
  return part.tensor;
}

}  // namespace retrace
