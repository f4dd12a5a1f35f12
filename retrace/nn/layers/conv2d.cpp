#include "retrace/nn/layers/conv2d.h"

#include <algorithm>

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer conv2d(Pair kernel, int64_t filters, const Conv2dOptions& options, const ParameterOptions& parameters,
             Place place) {
  return Layer("conv2d",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 check_image(x, "conv2d", place);
                 const int64_t groups = std::max<int64_t>(1, options.groups);
                 const Shape shape{kernel.y, kernel.x, x.shape()[3] / groups, filters};
                 const Tensor weights =
                     walk.parameter("weights", shape, conv2d_fans(shape, groups), parameters.initializer);
                 return Tree(retrace::conv2d(x, with_bias(walk, weights, parameters.bias, filters), options, place));
               })
      .with_options(with_parameter_values({{"size", size_value(kernel)},
                                           {"filters", filters},
                                           {"stride", size_value(options.stride)},
                                           {"padding", padding_value(options.padding)},
                                           {"dilation", size_value(options.dilation)},
                                           {"groups", options.groups}},
                                          parameters));
}

LayerKind conv2d_layer() {
  return {.name = "conv2d",
          .help = "convolution of an image",
          .options = with_parameter_rules(
              {size_rule("size", "of the kernel: one number, or [height, width]", 3),
               count_rule("filters", "channels of the result"),
               size_rule("stride", "how far the kernel moves: one number, or [height, width]", 1),
               padding_rule("padding", "around the image"),
               size_rule("dilation", "distance of the kernel's elements: one number, or [height, width]", 1),
               groups_rule()}),
          .required = {"size", "filters"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return conv2d(pair_of(options, "size"), options.integer("filters"),
                          {.stride = pair_of(options, "stride"),
                           .padding = padding_of(options, "padding"),
                           .dilation = pair_of(options, "dilation"),
                           .groups = options.integer("groups")},
                          parameters_of(options));
          }};
}

}  // namespace retrace::nn
