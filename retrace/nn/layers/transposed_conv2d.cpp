#include "retrace/nn/layers/transposed_conv2d.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer transposed_conv2d(Pair kernel, int64_t filters, const TransposedConv2dOptions& options,
                        const ParameterOptions& parameters, Place place) {
  return Layer("transposed_conv2d",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 check_image(x, "transposed_conv2d", place);
                 const Shape shape{kernel.y, kernel.x, filters, x.shape()[3]};
                 const Tensor weights =
                     walk.parameter("weights", shape, transposed_conv2d_fans(shape), parameters.initializer);
                 return Tree(
                     retrace::transposed_conv2d(x, with_bias(walk, weights, parameters.bias, filters), options, place));
               })
      .with_options(with_parameter_values({{"size", size_value(kernel)},
                                           {"filters", filters},
                                           {"stride", size_value(options.stride)},
                                           {"cropping", padding_value(options.cropping)}},
                                          parameters));
}

LayerKind transposed_conv2d_layer() {
  return {.name = "transposed_conv2d",
          .help = "transposed convolution: a larger image",
          .options = with_parameter_rules(
              {size_rule("size", "of the kernel: one number, or [height, width]", 2),
               count_rule("filters", "channels of the result"),
               size_rule("stride", "distance of the input's pixels in the result: one number, or [height, width]", 1),
               padding_rule("cropping", "cut off the result")}),
          .required = {"size", "filters"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return transposed_conv2d(
                pair_of(options, "size"), options.integer("filters"),
                {.stride = pair_of(options, "stride"), .cropping = padding_of(options, "cropping")},
                parameters_of(options));
          }};
}

}  // namespace retrace::nn
