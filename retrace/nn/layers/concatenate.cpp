#include "retrace/nn/layers/concatenate.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/concatenate/concatenate.h"

namespace retrace::nn {

Layer concatenate(Place place) {
  const auto joined = [place](Walk&, const Tree& x) {
    const auto inputs = leaf_tensors(x);
    return Tree(retrace::concatenate(inputs, inputs.at(0).rank() - 1, place));
  };
  return Layer("", joined).shown_as("concatenate").with_options({});
}

LayerKind concatenate_layer() {
  return {.name = "concatenate",
          .help = "several layers' outputs, joined along the channels",
          .joins = true,
          .layer = [](const OptionValues&) { return concatenate(); }};
}

}  // namespace retrace::nn
