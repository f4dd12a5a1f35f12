#include "retrace/nn/layers/adaptive_max_pool3d.h"

#include "retrace/nn/volume_rules.h"

namespace retrace::nn {

Layer adaptive_max_pool3d(Triple size, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::adaptive_max_pool3d(x, size, place); }, "adaptive_max_pool3d")
      .with_options({{"size", triple_value(size)}});
}

LayerKind adaptive_max_pool3d_layer() {
  return {.name = "adaptive_max_pool3d",
          .help = "the maxima of windows, so many that the result has a given size",
          .options = {triple_rule("size", "of the result", 1)},
          .required = {"size"},
          .layer = [](const OptionValues& options) { return adaptive_max_pool3d(triple_of(options, "size")); }};
}

}  // namespace retrace::nn
