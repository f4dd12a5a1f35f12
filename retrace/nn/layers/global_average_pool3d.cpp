#include "retrace/nn/layers/global_average_pool3d.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/average_pool3d/average_pool3d.h"

namespace retrace::nn {

Layer global_average_pool3d(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::global_average_pool3d(x, place); }, "global_average_pool3d")
      .with_options({});
}

LayerKind global_average_pool3d_layer() {
  return {.name = "global_average_pool3d",
          .help = "the mean of each channel over the whole volume",
          .layer = [](const OptionValues&) { return global_average_pool3d(); }};
}

}  // namespace retrace::nn
