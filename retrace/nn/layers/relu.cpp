#include "retrace/nn/layers/relu.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/relu/relu.h"

namespace retrace::nn {

Layer relu(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::relu(x, place); }, "relu").with_options({});
}

LayerKind relu_layer() {
  return {.name = "relu", .help = "x, or 0 where it is negative", .layer = [](const OptionValues&) { return relu(); }};
}

}  // namespace retrace::nn
