#include "retrace/nn/layers/gelu.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/gelu/gelu.h"

namespace retrace::nn {

Layer gelu(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::gelu(x, place); }, "gelu").with_options({});
}

LayerKind gelu_layer() {
  return {.name = "gelu",
          .help = "x times the probability of a normal number below x",
          .layer = [](const OptionValues&) { return gelu(); }};
}

}  // namespace retrace::nn
