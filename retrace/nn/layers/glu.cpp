#include "retrace/nn/layers/glu.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/glu/glu.h"

namespace retrace::nn {

Layer glu(Place place) {
  return layer_of([=](const Tensor& x) { return retrace::glu(x, -1, place); }, "glu").with_options({});
}

LayerKind glu_layer() {
  return {.name = "glu",
          .help = "half of the features, each times sigmoid of one of the other half",
          .layer = [](const OptionValues&) { return glu(); }};
}

}  // namespace retrace::nn
