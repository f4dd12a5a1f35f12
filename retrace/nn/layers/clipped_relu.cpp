#include "retrace/nn/layers/clipped_relu.h"

#include "retrace/ops/clipped_relu/clipped_relu.h"

namespace retrace::nn {

Layer clipped_relu(double ceiling, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::clipped_relu(x, ceiling, place); });
}

}  // namespace retrace::nn
