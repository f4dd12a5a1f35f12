#include "retrace/nn/layers/mish.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/mish/mish.h"

namespace retrace::nn {

Layer mish(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::mish(x, place); }, "mish").with_options({});
}

LayerKind mish_layer() {
  return {.name = "mish", .help = "x times tanh of softplus of x", .layer = [](const OptionValues&) { return mish(); }};
}

}  // namespace retrace::nn
