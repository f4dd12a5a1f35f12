#include "retrace/nn/layers/adaptive_max_pool2d.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer adaptive_max_pool2d(Pair size, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::adaptive_max_pool2d(x, size, place); }, "adaptive_max_pool2d")
      .with_options({{"size", size_value(size)}});
}

LayerKind adaptive_max_pool2d_layer() {
  return {.name = "adaptive_max_pool2d",
          .help = "the maxima of windows, so many that the result has a given size",
          .options = {size_rule("size", "of the result: one number, or [height, width]", 1)},
          .required = {"size"},
          .layer = [](const OptionValues& options) { return adaptive_max_pool2d(pair_of(options, "size")); }};
}

}  // namespace retrace::nn
