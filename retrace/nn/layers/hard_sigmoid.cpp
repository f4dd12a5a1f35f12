#include "retrace/nn/layers/hard_sigmoid.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/hard_sigmoid/hard_sigmoid.h"

namespace retrace::nn {

Layer hard_sigmoid(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::hard_sigmoid(x, place); }, "hard_sigmoid").with_options({});
}

LayerKind hard_sigmoid_layer() {
  return {.name = "hard_sigmoid", .help = "x / 6 + 1 / 2 between 0 and 1", .layer = [](const OptionValues&) {
            return hard_sigmoid();
          }};
}

}  // namespace retrace::nn
