#include "retrace/nn/layers/log_sigmoid.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/log_sigmoid/log_sigmoid.h"

namespace retrace::nn {

Layer log_sigmoid(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::log_sigmoid(x, place); }, "log_sigmoid").with_options({});
}

LayerKind log_sigmoid_layer() {
  return {.name = "log_sigmoid", .help = "logarithm of sigmoid of x", .layer = [](const OptionValues&) {
            return log_sigmoid();
          }};
}

}  // namespace retrace::nn
