#include "retrace/nn/layers/average_pool1d.h"

#include "retrace/nn/sequence_rules.h"

namespace retrace::nn {

Layer average_pool1d(int64_t size, const AveragePool1dOptions& options, Place place) {
  return Layer("",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 walk.refuse_mask("average_pool1d", x, place);
                 return Tree(retrace::average_pool1d(x, size, options, place));
               })
      .shown_as("average_pool1d")
      .with_options({{"size", size},
                     {"stride", options.stride},
                     {"padding", end_padding_value(options.padding)},
                     {"count_padding", options.count_padding}});
}

LayerKind average_pool1d_layer() {
  return {
      .name = "average_pool1d",
      .help = "the mean over a window that moves over the sequence",
      .options = {length_rule("size", "of the window", 2),
                  pool_length_rule(),
                  end_padding_rule(),
                  {.name = "count_padding", .help = "whether padded zeros count in the divisor", .standard = false}},
      .required = {"size"},
      .layer = [](const OptionValues& options) {
        return average_pool1d(options.integer("size"), {.stride = options.integer("stride"),
                                                        .padding = end_padding_of(options),
                                                        .count_padding = options.truth("count_padding")});
      }};
}

}  // namespace retrace::nn
