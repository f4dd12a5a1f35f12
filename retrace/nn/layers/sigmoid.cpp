#include "retrace/nn/layers/sigmoid.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/sigmoid/sigmoid.h"

namespace retrace::nn {

Layer sigmoid(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::sigmoid(x, place); }, "sigmoid").with_options({});
}

LayerKind sigmoid_layer() {
  return {.name = "sigmoid", .help = "1 / (1 + e^-x), between 0 and 1", .layer = [](const OptionValues&) {
            return sigmoid();
          }};
}

}  // namespace retrace::nn
