#include "retrace/nn/layers/average_pool2d.h"

namespace retrace::nn {

Layer average_pool2d(Pair pool, const AveragePool2dOptions& options, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::average_pool2d(x, pool, options, place); });
}

}  // namespace retrace::nn
