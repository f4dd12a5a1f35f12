#include "retrace/nn/layers/flatten.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace::nn {

Layer flatten(Place place) {
  const auto row = [place](Walk& walk, const Tree& input) {
    walk.refuse_mask("flatten", input.tensor(), place);
    return Tree(retrace::flatten(input.tensor(), place));
  };
  return Layer("", row).shown_as("flatten").with_options({});
}

LayerKind flatten_layer() {
  return {.name = "flatten", .help = "a sample as one row of its numbers", .layer = [](const OptionValues&) {
            return flatten();
          }};
}

}  // namespace retrace::nn
