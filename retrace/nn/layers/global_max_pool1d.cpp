#include "retrace/nn/layers/global_max_pool1d.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/max_pool1d/max_pool1d.h"

namespace retrace::nn {

Layer global_max_pool1d(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::global_max_pool1d(x, place); }, "global_max_pool1d")
      .with_options({});
}

LayerKind global_max_pool1d_layer() {
  return {.name = "global_max_pool1d",
          .help = "the maximum of each channel over the whole sequence",
          .layer = [](const OptionValues&) { return global_max_pool1d(); }};
}

}  // namespace retrace::nn
