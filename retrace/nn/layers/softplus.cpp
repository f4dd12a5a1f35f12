#include "retrace/nn/layers/softplus.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/softplus/softplus.h"

namespace retrace::nn {

Layer softplus(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::softplus(x, place); }, "softplus").with_options({});
}

LayerKind softplus_layer() {
  return {.name = "softplus", .help = "log(1 + e^x), a smooth relu", .layer = [](const OptionValues&) {
            return softplus();
          }};
}

}  // namespace retrace::nn
