#include "retrace/nn/layers/transposed_conv3d.h"

#include "retrace/nn/volume_rules.h"
#include "retrace/ops/volume_window.h"

namespace retrace::nn {

Layer transposed_conv3d(Triple kernel, int64_t filters, const TransposedConv3dOptions& options,
                        const ParameterOptions& parameters, Place place) {
  return Layer("transposed_conv3d",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 check_volume("transposed_conv3d", x, place);
                 const Shape shape{kernel.z, kernel.y, kernel.x, filters, x.shape()[4]};
                 const Fans fans = transposed_conv2d_fans({kernel.z * kernel.y, kernel.x, filters, shape[4]});
                 const Tensor weights = walk.parameter("weights", shape, fans, parameters.initializer);
                 if (!parameters.bias) return Tree(retrace::transposed_conv3d(x, weights, options, place));
                 const Tensor bias = walk.parameter("bias", {filters}, {}, constant_values(0));
                 return Tree(retrace::transposed_conv3d(x, weights, bias, options, place));
               })
      .with_options(with_parameter_values({{"size", triple_value(kernel)},
                                           {"filters", filters},
                                           {"stride", triple_value(options.stride)},
                                           {"cropping", volume_padding_value(options.cropping)}},
                                          parameters));
}

LayerKind transposed_conv3d_layer() {
  return {.name = "transposed_conv3d",
          .help = "transposed convolution: a larger volume",
          .options = with_parameter_rules({triple_rule("size", "of the kernel", 2),
                                           count_rule("filters", "channels of the result"),
                                           triple_rule("stride", "distance of the input's elements in the result", 1),
                                           volume_padding_rule("cropping", "cut off the result")}),
          .required = {"size", "filters"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return transposed_conv3d(
                triple_of(options, "size"), options.integer("filters"),
                {.stride = triple_of(options, "stride"), .cropping = volume_padding_of(options, "cropping")},
                parameters_of(options));
          }};
}

}  // namespace retrace::nn
