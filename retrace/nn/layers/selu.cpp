#include "retrace/nn/layers/selu.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/selu/selu.h"

namespace retrace::nn {

Layer selu(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::selu(x, place); }, "selu").with_options({});
}

LayerKind selu_layer() {
  return {.name = "selu",
          .help = "elu with the factors that keep mean 0 and variance 1",
          .layer = [](const OptionValues&) { return selu(); }};
}

}  // namespace retrace::nn
