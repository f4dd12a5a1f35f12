#include "retrace/nn/layers/max_pool2d.h"

namespace retrace::nn {

Layer max_pool2d(Pair pool, const MaxPool2dOptions& options, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::max_pool2d(x, pool, options, place); });
}

}  // namespace retrace::nn
