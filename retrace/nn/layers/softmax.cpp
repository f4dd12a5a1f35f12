#include "retrace/nn/layers/softmax.h"

#include "retrace/ops/softmax/softmax.h"

namespace retrace::nn {

Layer softmax(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::softmax(x, {}, place); });
}

}  // namespace retrace::nn
