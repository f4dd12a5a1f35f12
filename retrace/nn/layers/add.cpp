#include "retrace/nn/layers/add.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/add/add.h"

namespace retrace::nn {

Layer add(Place place) {
  const auto joined = [place](Walk&, const Tree& x) {
    const auto inputs = leaf_tensors(x);
    Tensor y = inputs.at(0);
    for (size_t i = 1; i < inputs.size(); ++i) y = retrace::add(y, inputs[i], place);
    return Tree(y);
  };
  return Layer("", joined).shown_as("add").with_options({});
}

LayerKind add_layer() {
  return {.name = "add", .help = "the sum of several layers' outputs", .joins = true, .layer = [](const OptionValues&) {
            return add();
          }};
}

}  // namespace retrace::nn
