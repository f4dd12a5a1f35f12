#include "retrace/ops/adaptive_pool3d/adaptive_pool3d.h"

#include "retrace/ops/adaptive_pool2d/adaptive_pool2d.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/volume_window.h"

namespace retrace {
namespace {

using ImagePool = Tensor (*)(const Tensor& x, Pair size, Place place);

// Each image, then the images of a volume, which are channels of a column.
Tensor pooled_adaptive_pool3d(const char* name, const Tensor& x, Triple size, ImagePool pool, Place place) {
  check_volume(name, x, place);
  const Tensor images = pool(images_of_volume(x, place), {size.y, size.x}, place);
  const int64_t batch = x.shape()[0], depth = x.shape()[1], numbers = size.y * size.x * x.shape()[4];
  const Tensor column = pool(reshape(images, {batch, depth, 1, numbers}, "", place), {size.z, 1}, place);
  return reshape(column, {batch, size.z, size.y, size.x, x.shape()[4]}, x.labels(), place);
}

}  // namespace

Tensor adaptive_average_pool3d(const Tensor& x, Triple size, Place place) {
  return pooled_adaptive_pool3d("adaptive_average_pool3d", x, size, adaptive_average_pool2d, place);
}

Tensor adaptive_max_pool3d(const Tensor& x, Triple size, Place place) {
  return pooled_adaptive_pool3d("adaptive_max_pool3d", x, size, adaptive_max_pool2d, place);
}

void define_adaptive_pool3d(OpTable&) {}  // no op of its own: it is adaptive_pool2d of images, then along the depth

}  // namespace retrace
