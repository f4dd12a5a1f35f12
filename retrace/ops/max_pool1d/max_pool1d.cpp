#include "retrace/ops/max_pool1d/max_pool1d.h"

#include "retrace/ops/max_pool2d/max_pool2d.h"
#include "retrace/ops/sequence_window.h"

namespace retrace {

Tensor max_pool1d(const Tensor& x, int64_t size, const MaxPool1dOptions& options, Place place) {
  const Tensor image = image_of_sequence("max_pool1d", x, place);
  const Tensor pooled = max_pool2d(
      image, {1, size},
      {.stride = {1, options.stride == 0 ? size : options.stride}, .padding = image_padding(options.padding, size)},
      place);
  return sequence_of_image(pooled, x, place);
}

Tensor global_max_pool1d(const Tensor& x, Place place) {
  const Tensor image = image_of_sequence("global_max_pool1d", x, place);
  return sequence_of_image(max_pool2d(image, {1, x.shape()[1]}, {}, place), x, place);
}

void define_max_pool1d(OpTable&) {}  // no op of its own: it is max_pool2d of an image one row high

}  // namespace retrace
