#include "retrace/nn/layers/hard_tanh.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/hard_tanh/hard_tanh.h"

namespace retrace::nn {

Layer hard_tanh(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::hard_tanh(x, place); }, "hard_tanh").with_options({});
}

LayerKind hard_tanh_layer() {
  return {.name = "hard_tanh", .help = "x between -1 and 1", .layer = [](const OptionValues&) { return hard_tanh(); }};
}

}  // namespace retrace::nn
