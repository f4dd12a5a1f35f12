#include "retrace/nn/layers/global_max_pool3d.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/max_pool3d/max_pool3d.h"

namespace retrace::nn {

Layer global_max_pool3d(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::global_max_pool3d(x, place); }, "global_max_pool3d")
      .with_options({});
}

LayerKind global_max_pool3d_layer() {
  return {.name = "global_max_pool3d",
          .help = "the maximum of each channel over the whole volume",
          .layer = [](const OptionValues&) { return global_max_pool3d(); }};
}

}  // namespace retrace::nn
