#include "retrace/nn/layers/silu.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/silu/silu.h"

namespace retrace::nn {

Layer silu(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::silu(x, place); }, "silu").with_options({});
}

LayerKind silu_layer() {
  return {.name = "silu", .help = "x times sigmoid of x, also called swish", .layer = [](const OptionValues&) {
            return silu();
          }};
}

}  // namespace retrace::nn
