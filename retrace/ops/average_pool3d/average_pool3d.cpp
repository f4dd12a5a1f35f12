#include "retrace/ops/average_pool3d/average_pool3d.h"

#include "retrace/ops/average_pool2d/average_pool2d.h"
#include "retrace/ops/volume_window.h"

namespace retrace {

Tensor average_pool3d(const Tensor& x, Triple size, const AveragePool3dOptions& options, Place place) {
  check_volume("average_pool3d", x, place);
  const auto [z, y, width] = options.stride;
  const DepthWindow window =
      depth_window("average_pool3d", x, size.z, z == 0 ? size.z : z, 1, options.padding.depth, place);
  const Padding ends = depth_padding("average_pool3d", x, window, place);
  const Pair pool{size.y, size.x}, stride{y == 0 ? size.y : y, width == 0 ? size.x : width};
  return pooled_volume(
      x,
      [&](const Tensor& images) {
        return average_pool2d(
            images, pool, {.stride = stride, .padding = options.padding.image, .count_padding = options.count_padding},
            place);
      },
      [&](const Tensor& images) {
        return average_pool2d(images, {window.size, 1},
                              {.stride = {window.stride, 1}, .padding = ends, .count_padding = options.count_padding},
                              place);
      },
      place);
}

Tensor global_average_pool3d(const Tensor& x, Place place) {
  check_volume("global_average_pool3d", x, place);
  return volume_of_pixel(global_average_pool2d(image_of_volume(x, place), place), x, place);
}

void define_average_pool3d(OpTable&) {}  // no op of its own: it is average_pool2d of images, then along the depth

}  // namespace retrace
