#include "retrace/nn/layers/global_average_pool1d.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/average_pool1d/average_pool1d.h"

namespace retrace::nn {

Layer global_average_pool1d(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::global_average_pool1d(x, place); }, "global_average_pool1d")
      .with_options({});
}

LayerKind global_average_pool1d_layer() {
  return {.name = "global_average_pool1d",
          .help = "the mean of each channel over the whole sequence",
          .layer = [](const OptionValues&) { return global_average_pool1d(); }};
}

}  // namespace retrace::nn
