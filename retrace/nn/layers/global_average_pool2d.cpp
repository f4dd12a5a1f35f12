#include "retrace/nn/layers/global_average_pool2d.h"

#include "retrace/ops/average_pool2d/average_pool2d.h"

namespace retrace::nn {

Layer global_average_pool2d(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::global_average_pool2d(x, place); });
}

}  // namespace retrace::nn
