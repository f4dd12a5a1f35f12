#include "retrace/nn/layers/max_pool1d.h"

#include "retrace/nn/sequence_rules.h"

namespace retrace::nn {

Layer max_pool1d(int64_t size, const MaxPool1dOptions& options, Place place) {
  return Layer("",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 walk.refuse_mask("max_pool1d", x, place);
                 return Tree(retrace::max_pool1d(x, size, options, place));
               })
      .shown_as("max_pool1d")
      .with_options({{"size", size}, {"stride", options.stride}, {"padding", end_padding_value(options.padding)}});
}

LayerKind max_pool1d_layer() {
  return {.name = "max_pool1d",
          .help = "the maximum over a window that moves over the sequence",
          .options = {length_rule("size", "of the window", 2), pool_length_rule(), end_padding_rule()},
          .required = {"size"},
          .layer = [](const OptionValues& options) {
            return max_pool1d(options.integer("size"),
                              {.stride = options.integer("stride"), .padding = end_padding_of(options)});
          }};
}

}  // namespace retrace::nn
