#include "retrace/nn/layers/gelu_tanh.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/gelu_tanh/gelu_tanh.h"

namespace retrace::nn {

Layer gelu_tanh(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::gelu_tanh(x, place); }, "gelu_tanh").with_options({});
}

LayerKind gelu_tanh_layer() {
  return {.name = "gelu_tanh", .help = "gelu, approximated by tanh", .layer = [](const OptionValues&) {
            return gelu_tanh();
          }};
}

}  // namespace retrace::nn
