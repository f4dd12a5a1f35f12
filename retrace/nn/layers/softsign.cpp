#include "retrace/nn/layers/softsign.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/softsign/softsign.h"

namespace retrace::nn {

Layer softsign(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::softsign(x, place); }, "softsign").with_options({});
}

LayerKind softsign_layer() {
  return {.name = "softsign", .help = "x / (1 + |x|)", .layer = [](const OptionValues&) { return softsign(); }};
}

}  // namespace retrace::nn
