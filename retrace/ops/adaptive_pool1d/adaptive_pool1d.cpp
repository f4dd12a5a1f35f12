#include "retrace/ops/adaptive_pool1d/adaptive_pool1d.h"

#include "retrace/ops/adaptive_pool2d/adaptive_pool2d.h"
#include "retrace/ops/sequence_window.h"

namespace retrace {

Tensor adaptive_average_pool1d(const Tensor& x, int64_t size, Place place) {
  const Tensor image = image_of_sequence("adaptive_average_pool1d", x, place);
  return sequence_of_image(adaptive_average_pool2d(image, {1, size}, place), x, place);
}

Tensor adaptive_max_pool1d(const Tensor& x, int64_t size, Place place) {
  const Tensor image = image_of_sequence("adaptive_max_pool1d", x, place);
  return sequence_of_image(adaptive_max_pool2d(image, {1, size}, place), x, place);
}

void define_adaptive_pool1d(OpTable&) {}  // no op of its own: it is adaptive_pool2d of an image one row high

}  // namespace retrace
