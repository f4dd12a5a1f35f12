#include "retrace/nn/layers/transposed_conv1d.h"

#include "retrace/nn/sequence_rules.h"

namespace retrace::nn {

Layer transposed_conv1d(int64_t size, int64_t filters, const TransposedConv1dOptions& options,
                        const ParameterOptions& parameters, Place place) {
  return Layer("transposed_conv1d",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 check_sequence(x, "transposed_conv1d", place);
                 walk.refuse_mask("transposed_conv1d", x, place);
                 const Shape shape{size, filters, x.shape()[2]};
                 const Fans fans = transposed_conv2d_fans({1, size, filters, shape[2]});
                 const Tensor weights = walk.parameter("weights", shape, fans, parameters.initializer);
                 if (!parameters.bias) return Tree(retrace::transposed_conv1d(x, weights, options, place));
                 const Tensor bias = walk.parameter("bias", {filters}, {}, constant_values(0));
                 return Tree(retrace::transposed_conv1d(x, weights, bias, options, place));
               })
      .with_options(with_parameter_values({{"size", size},
                                           {"filters", filters},
                                           {"stride", options.stride},
                                           {"cropping", end_padding_value(options.cropping)}},
                                          parameters));
}

LayerKind transposed_conv1d_layer() {
  return {.name = "transposed_conv1d",
          .help = "transposed convolution: a longer sequence",
          .options = with_parameter_rules({length_rule("size", "of the kernel", 2),
                                           count_rule("filters", "channels of the result"),
                                           length_rule("stride", "distance of the input's elements in the result", 1),
                                           end_padding_rule("cropping", "cut off the ends of the result")}),
          .required = {"size", "filters"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return transposed_conv1d(
                options.integer("size"), options.integer("filters"),
                {.stride = options.integer("stride"), .cropping = end_padding_of(options, "cropping")},
                parameters_of(options));
          }};
}

}  // namespace retrace::nn
