#include "retrace/nn/layers/softmax.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/softmax/softmax.h"

namespace retrace::nn {

Layer softmax(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::softmax(x, {}, place); }, "softmax").with_options({});
}

LayerKind softmax_layer() {
  return {
      .name = "softmax", .help = "class scores that sum to 1", .layer = [](const OptionValues&) { return softmax(); }};
}

}  // namespace retrace::nn
