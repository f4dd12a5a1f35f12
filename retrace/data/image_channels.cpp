#include "retrace/data/image_channels.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/fp_environment.h"
#include "retrace/data/image_transform.h"
#include "retrace/data/stack.h"

namespace retrace {
namespace {

float grey_of(const float* color) { return static_cast<float>(0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2]); }
uint8_t grey_of(const uint8_t* color) {
  return static_cast<uint8_t>((299 * color[0] + 587 * color[1] + 114 * color[2] + 500) / 1000);
}

template <class Value>
void convert(const Tensor& image, int64_t channels, std::byte* to) {
  const auto* from = static_cast<const Value*>(image.data());
  auto* next = reinterpret_cast<Value*>(to);
  const int64_t pixels = image.shape()[0] * image.shape()[1];
  for (int64_t i = 0; i < pixels; ++i)
    if (channels == 1)
      *next++ = grey_of(from + 3 * i);
    else
      next = std::fill_n(next, 3, from[i]);
}

}  // namespace

Shape with_image_channels(const Shape& image, int64_t channels, std::string_view caller) {
  if (image[2] != 0 && image[2] != 1 && image[2] != 3)
    throw Error(ErrorKind::usage, 381, fmt::format("{}: the image has {} channels", caller, image[2]))
        .expected("1 (grey) or 3 (red, green, blue)");
  return {image[0], image[1], channels};
}

Tensor with_image_channels(const Tensor& image, int64_t channels, std::string_view caller) {
  const FloatingPointScope floating_point;
  require_image_type(image, caller);
  if (image.type() == DType::i32) return image;
  const Shape shape = with_image_channels(image.shape(), channels, caller);
  if (shape == image.shape()) return image;
  const BlankTensor blank(TensorSpec{image.type(), shape, Labels("SSC"), {}});
  if (image.type() == DType::u8)
    convert<uint8_t>(image, channels, blank.bytes);
  else
    convert<float>(image, channels, blank.bytes);
  return blank.tensor;
}

TransformKind channel_transform(std::string name, std::string_view help, int64_t channels) {
  const std::string caller = fmt::format("transform \"{}\"", name);
  return {
      .name = std::move(name),
      .help = help,
      .every_set = true,
      .shape = [=](const Shape& image, const OptionValues&) { return with_image_channels(image, channels, caller); },
      .make = [=](const OptionValues&) -> TransformFunction {
        return [=](const Observation& observation, TransformContext&) {
          return with_changed_images(observation, caller,
                                     [&](const Tensor& image) { return with_image_channels(image, channels, caller); });
        };
      }};
}

}  // namespace retrace
