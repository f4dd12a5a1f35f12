#include "retrace/nn/layers/elu.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/elu/elu.h"

namespace retrace::nn {

Layer elu(double alpha, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::elu(x, alpha, place); }, "elu")
      .with_options({{"alpha", alpha}});
}

LayerKind elu_layer() {
  return {.name = "elu",
          .help = "x, or alpha (e^x - 1) where it is negative",
          .options = {{.name = "alpha",
                       .help = "the value far below zero, with the sign changed",
                       .standard = 1.0,
                       .high = 1e6}},
          .layer = [](const OptionValues& options) { return elu(options.number("alpha")); }};
}

}  // namespace retrace::nn
