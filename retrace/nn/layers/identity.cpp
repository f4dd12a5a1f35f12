#include "retrace/nn/layers/identity.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer identity() {
  return Layer("", [](Walk&, const Tree& x) { return x; }).shown_as("identity").with_options({});
}

LayerKind identity_layer() {
  return {.name = "identity", .help = "its input, under a name of its own", .layer = [](const OptionValues&) {
            return identity();
          }};
}

}  // namespace retrace::nn
