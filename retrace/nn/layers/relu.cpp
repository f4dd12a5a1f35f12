#include "retrace/nn/layers/relu.h"

#include "retrace/ops/relu/relu.h"

namespace retrace::nn {

Layer relu(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::relu(x, place); });
}

}  // namespace retrace::nn
