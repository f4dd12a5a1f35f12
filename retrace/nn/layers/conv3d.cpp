#include "retrace/nn/layers/conv3d.h"

#include <algorithm>

#include "retrace/nn/volume_rules.h"
#include "retrace/ops/volume_window.h"

namespace retrace::nn {

Layer conv3d(Triple kernel, int64_t filters, const Conv3dOptions& options, const ParameterOptions& parameters,
             Place place) {
  return Layer("conv3d",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 check_volume("conv3d", x, place);
                 const int64_t groups = std::max<int64_t>(1, options.groups), channels = x.shape()[4] / groups;
                 const Shape shape{kernel.z, kernel.y, kernel.x, channels, filters};
                 const Fans fans = conv2d_fans({kernel.z * kernel.y, kernel.x, channels, filters}, groups);
                 const Tensor weights = walk.parameter("weights", shape, fans, parameters.initializer);
                 if (!parameters.bias) return Tree(retrace::conv3d(x, weights, options, place));
                 const Tensor bias = walk.parameter("bias", {filters}, {}, constant_values(0));
                 return Tree(retrace::conv3d(x, weights, bias, options, place));
               })
      .with_options(with_parameter_values({{"size", triple_value(kernel)},
                                           {"filters", filters},
                                           {"stride", triple_value(options.stride)},
                                           {"padding", volume_padding_value(options.padding)},
                                           {"dilation", triple_value(options.dilation)},
                                           {"groups", options.groups}},
                                          parameters));
}

LayerKind conv3d_layer() {
  return {.name = "conv3d",
          .help = "convolution of a volume",
          .options = with_parameter_rules(
              {triple_rule("size", "of the kernel", 3), count_rule("filters", "channels of the result"),
               triple_rule("stride", "how far the kernel moves", 1), volume_padding_rule(),
               triple_rule("dilation", "distance of the kernel's elements", 1), groups_rule()}),
          .required = {"size", "filters"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return conv3d(triple_of(options, "size"), options.integer("filters"),
                          {.stride = triple_of(options, "stride"),
                           .padding = volume_padding_of(options),
                           .dilation = triple_of(options, "dilation"),
                           .groups = options.integer("groups")},
                          parameters_of(options));
          }};
}

}  // namespace retrace::nn
