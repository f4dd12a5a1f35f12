#include "retrace/nn/layers/global_max_pool2d.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/max_pool2d/max_pool2d.h"

namespace retrace::nn {

Layer global_max_pool2d(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::global_max_pool2d(x, place); }, "global_max_pool2d")
      .with_options({});
}

LayerKind global_max_pool2d_layer() {
  return {.name = "global_max_pool2d",
          .help = "the maximum of each channel over the whole image",
          .layer = [](const OptionValues&) { return global_max_pool2d(); }};
}

}  // namespace retrace::nn
