#include "retrace/data/resize.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/data/image_transform.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

constexpr const char* kResizeCaller = "transform \"resize\"";

// What `wanted` pixels of one axis make of the other one's `size`, in proportion; halves up, 1 at least.
int64_t in_proportion(int64_t size, int64_t wanted, int64_t from) {
  return std::max<int64_t>((2 * size * wanted + from) / (2 * from), 1);
}

Shape resized_shape(const Shape& image, const OptionValues& options) {
  const int64_t height = options.integer("resize_height"), width = options.integer("resize_width");
  if (height == 0 && width == 0)
    throw Error(ErrorKind::usage, 388, fmt::format("{}: the new size is not given", kResizeCaller))
        .help("set resize_height, resize_width, or both (in a job data.resize_height, data.resize_width)");
  const bool unknown = image[0] == 0 || image[1] == 0;
  if (height == 0) return {unknown ? 0 : in_proportion(image[0], width, image[1]), width, image[2]};
  if (width == 0) return {height, unknown ? 0 : in_proportion(image[1], height, image[0]), image[2]};
  return {height, width, image[2]};
}

TransformFunction resizing(const OptionValues& options) {
  const auto how = options.text("resize_method") == "nearest" ? Interpolation::nearest : Interpolation::bilinear;
  resized_shape({0, 0, 1}, options);  // whether they say a size
  return [options, how](const Observation& observation, TransformContext&) {
    return with_changed_images(observation, kResizeCaller, [&](const Tensor& image) {
      require_image_type(image, kResizeCaller);
      const Shape shape = resized_shape(image.shape(), options);
      return resized(image, shape[0], shape[1], how);
    });
  };
}

}  // namespace

TransformKind resize_transform() {
  return {.name = "resize",
          .help = "images get resize_height by resize_width pixels, whatever they had",
          .options = {{.name = "resize_height",
                       .help = "rows; 0: in proportion to resize_width",
                       .standard = int64_t{0},
                       .high = 65535},
                      {.name = "resize_width",
                       .help = "columns; 0: in proportion to resize_height",
                       .standard = int64_t{0},
                       .high = 65535},
                      {.name = "resize_method",
                       .help = "pixels weighed by a triangle, or the one that a new pixel's middle lies in",
                       .standard = std::string("bilinear"),
                       .choices = {"bilinear", "nearest"}}},
          .every_set = true,
          .shape = resized_shape,
          .make = resizing};
}

}  // namespace retrace
