#include "retrace/nn/layers/sequence_input.h"

#include "retrace/nn/sequence_rules.h"
#include "retrace/ops/isfinite/isfinite.h"
#include "retrace/ops/logical/logical.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/where/where.h"

namespace retrace::nn {

Layer sequence_input(Place place) {
  return Layer("",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 check_sequence(x, "sequence_input", place);
                 const Tensor missing = isnan(x, place);
                 const Tensor first = select(missing, 2, 0, place);
                 walk.set_mask(logical_not(reshape(first, first.shape(), "", place), place));
                 return Tree(where(missing, constant_like(x, 0), x, place));
               })
      .shown_as("sequence_input")
      .with_options({});
}

LayerKind sequence_input_layer() {
  return {.name = "sequence_input",
          .help = "the start of a network for series of different lengths, whose padding is NaN",
          .layer = [](const OptionValues&) { return sequence_input(Place()); }};
}

}  // namespace retrace::nn
