#include "retrace/nn/layers/clipped_relu.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/clipped_relu/clipped_relu.h"

namespace retrace::nn {

Layer clipped_relu(double ceiling, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::clipped_relu(x, ceiling, place); }, "clipped_relu")
      .with_options({{"ceiling", ceiling}});
}

LayerKind clipped_relu_layer() {
  return {
      .name = "clipped_relu",
      .help = "x between 0 and the ceiling",
      .options = {{.name = "ceiling", .help = "the largest value", .standard = 1.0, .high = 1e6, .above_low = true}},
      .layer = [](const OptionValues& options) { return clipped_relu(options.number("ceiling")); }};
}

}  // namespace retrace::nn
