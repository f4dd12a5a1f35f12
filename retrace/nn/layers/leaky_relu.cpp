#include "retrace/nn/layers/leaky_relu.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/leaky_relu/leaky_relu.h"

namespace retrace::nn {

Layer leaky_relu(double slope, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::leaky_relu(x, slope, place); }, "leaky_relu")
      .with_options({{"slope", slope}});
}

LayerKind leaky_relu_layer() {
  return {.name = "leaky_relu",
          .help = "x, or slope times x where it is negative",
          .options = {{.name = "slope", .help = "the slope below zero", .standard = 0.01, .high = 1e6}},
          .layer = [](const OptionValues& options) { return leaky_relu(options.number("slope")); }};
}

}  // namespace retrace::nn
