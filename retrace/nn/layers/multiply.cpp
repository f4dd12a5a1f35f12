#include "retrace/nn/layers/multiply.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/multiply/multiply.h"

namespace retrace::nn {

Layer multiply(Place place) {
  const auto joined = [place](Walk&, const Tree& x) {
    const auto inputs = leaf_tensors(x);
    Tensor y = inputs.at(0);
    for (size_t i = 1; i < inputs.size(); ++i) y = retrace::multiply(y, inputs[i], place);
    return Tree(y);
  };
  return Layer("", joined).shown_as("multiply").with_options({});
}

LayerKind multiply_layer() {
  return {.name = "multiply",
          .help = "the product of several layers' outputs",
          .joins = true,
          .layer = [](const OptionValues&) { return multiply(); }};
}

}  // namespace retrace::nn
