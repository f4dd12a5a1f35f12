#include "retrace/nn/layers/conv1d.h"

#include <algorithm>

#include "retrace/nn/sequence_rules.h"

namespace retrace::nn {

Layer conv1d(int64_t size, int64_t filters, const Conv1dOptions& options, const ParameterOptions& parameters,
             Place place) {
  return Layer("conv1d",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 check_sequence(x, "conv1d", place);
                 walk.refuse_mask("conv1d", x, place);
                 const int64_t groups = std::max<int64_t>(1, options.groups);
                 const Shape shape{size, x.shape()[2] / groups, filters};
                 const Fans fans = conv2d_fans({1, size, shape[1], filters}, groups);
                 const Tensor weights = walk.parameter("weights", shape, fans, parameters.initializer);
                 if (!parameters.bias) return Tree(retrace::conv1d(x, weights, options, place));
                 const Tensor bias = walk.parameter("bias", {filters}, {}, constant_values(0));
                 return Tree(retrace::conv1d(x, weights, bias, options, place));
               })
      .with_options(with_parameter_values({{"size", size},
                                           {"filters", filters},
                                           {"stride", options.stride},
                                           {"padding", end_padding_value(options.padding)},
                                           {"dilation", options.dilation},
                                           {"groups", options.groups}},
                                          parameters));
}

LayerKind conv1d_layer() {
  return {.name = "conv1d",
          .help = "convolution of a sequence",
          .options = with_parameter_rules(
              {length_rule("size", "of the kernel", 3), count_rule("filters", "channels of the result"),
               length_rule("stride", "how far the kernel moves", 1), end_padding_rule(),
               length_rule("dilation", "distance of the kernel's elements", 1), groups_rule()}),
          .required = {"size", "filters"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return conv1d(options.integer("size"), options.integer("filters"),
                          {.stride = options.integer("stride"),
                           .padding = end_padding_of(options),
                           .dilation = options.integer("dilation"),
                           .groups = options.integer("groups")},
                          parameters_of(options));
          }};
}

}  // namespace retrace::nn
