#include "retrace/nn/layers/tanh.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/tanh/tanh.h"

namespace retrace::nn {

Layer tanh(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::tanh(x, place); }, "tanh").with_options({});
}

LayerKind tanh_layer() {
  return {.name = "tanh", .help = "hyperbolic tangent, between -1 and 1", .layer = [](const OptionValues&) {
            return tanh();
          }};
}

}  // namespace retrace::nn
