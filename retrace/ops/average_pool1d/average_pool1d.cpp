#include "retrace/ops/average_pool1d/average_pool1d.h"

#include "retrace/ops/average_pool2d/average_pool2d.h"
#include "retrace/ops/sequence_window.h"

namespace retrace {

Tensor average_pool1d(const Tensor& x, int64_t size, const AveragePool1dOptions& options, Place place) {
  const Tensor image = image_of_sequence("average_pool1d", x, place);
  const Tensor pooled = average_pool2d(image, {1, size},
                                       {.stride = {1, options.stride == 0 ? size : options.stride},
                                        .padding = image_padding(options.padding, size),
                                        .count_padding = options.count_padding},
                                       place);
  return sequence_of_image(pooled, x, place);
}

Tensor global_average_pool1d(const Tensor& x, Place place) {
  const Tensor image = image_of_sequence("global_average_pool1d", x, place);
  return sequence_of_image(average_pool2d(image, {1, x.shape()[1]}, {}, place), x, place);
}

void define_average_pool1d(OpTable&) {}  // no op of its own: it is average_pool2d of an image one row high

}  // namespace retrace
