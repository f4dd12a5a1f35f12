#include "retrace/nn/layers/hard_swish.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/hard_swish/hard_swish.h"

namespace retrace::nn {

Layer hard_swish(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::hard_swish(x, place); }, "hard_swish").with_options({});
}

LayerKind hard_swish_layer() {
  return {.name = "hard_swish", .help = "x times hard_sigmoid of x", .layer = [](const OptionValues&) {
            return hard_swish();
          }};
}

}  // namespace retrace::nn
