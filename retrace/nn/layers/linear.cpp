#include "retrace/nn/layers/linear.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer linear(int64_t outputs, const LinearOptions& options, const ParameterOptions& parameters, Place place) {
  return Layer("linear",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 if (options.flatten) walk.refuse_mask("linear", x, place);
                 const int first = options.flatten ? 1 : x.rank() - 1;
                 const Shape shape{outputs, x.rank() == 0 ? 1 : x.shape().count(first, x.rank())};
                 const Tensor weights = walk.parameter("weights", shape, linear_fans(shape), parameters.initializer);
                 return Tree(retrace::linear(x, with_bias(walk, weights, parameters.bias, outputs), options, place));
               })
      .with_options(with_parameter_values({{"features", outputs}, {"flatten", options.flatten}}, parameters));
}

Layer linear(int64_t outputs, const ParameterOptions& parameters, Place place) {
  return linear(outputs, LinearOptions(), parameters, place);
}

LayerKind linear_layer() {
  return {
      .name = "linear",
      .help = "each feature of the result is a weighted sum of all the input's numbers",
      .options = with_parameter_rules({count_rule("features", "of the result"),
                                       {.name = "flatten",
                                        .help = "whether a sample is one row of numbers; false: the last axis alone",
                                        .standard = true}}),
      .required = {"features"},
      .learns = true,
      .layer = [](const OptionValues& options) {
        return linear(options.integer("features"), {.flatten = options.truth("flatten")}, parameters_of(options));
      }};
}

}  // namespace retrace::nn
