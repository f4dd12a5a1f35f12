#include "retrace/nn/layers/crop2d.h"

#include <fmt/format.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/slice/slice.h"

namespace retrace::nn {
namespace {

struct Part {
  int64_t begin, end;
};

// Along one axis of n pixels.
Part part_of(int64_t n, int64_t size, int64_t before, int64_t behind) {
  if (size == 0) return {before, n - behind};
  const int64_t begin = (n - size) / 2;
  return n < size ? Part{1, 0} : Part{begin, begin + size};
}

Tensor cropped(const Tensor& x, const Crop2dOptions& options, Place place) {
  check_image(x, "crop2d", place);
  const auto [size, cut] = options;
  const bool by_size = size.y != 0 || size.x != 0;
  const bool by_cropping = cut.top != 0 || cut.bottom != 0 || cut.left != 0 || cut.right != 0;
  const Part y = part_of(x.shape()[1], size.y, cut.top, cut.bottom);
  const Part z = part_of(x.shape()[2], size.x, cut.left, cut.right);
  if (by_size == by_cropping || cut.is_same || y.begin >= y.end || z.begin >= z.end)
    throw Error(ErrorKind::usage, 544, "crop2d: it needs a part of the image")
        .where(place)
        .got(fmt::format("x {}", x.spec().text()))
        .expected("size = [height, width] of at most those of x, or cropping, which leaves at least one pixel");
  return slice(x, {.begin = {0, y.begin, z.begin}, .end = {x.shape()[0], y.end, z.end}}, place);
}

}  // namespace

Layer crop2d(const Crop2dOptions& options, Place place) {
  return layer_of([=](const Tensor& x) { return cropped(x, options, place); }, "crop2d")
      .with_options({{"size", size_value(options.size)}, {"cropping", padding_value(options.cropping)}});
}

LayerKind crop2d_layer() {
  return {.name = "crop2d",
          .help = "a part of an image",
          .options = {size_rule("size", "of the part around the centre: one number, or [height, width]; 0: by cropping",
                                0, 0),
                      {.name = "cropping",
                       .help = "what is cut off: one number, [height, width] or [top, bottom, left, right]",
                       .standard = std::vector<int64_t>{0},
                       .high = 65'536}},
          .layer = [](const OptionValues& options) {
            return crop2d({.size = pair_of(options, "size"), .cropping = padding_of(options, "cropping")});
          }};
}

}  // namespace retrace::nn
