#include "retrace/nn/layers/transposed_conv2d.h"

namespace retrace::nn {

Layer transposed_conv2d(Pair kernel, int64_t filters, const TransposedConv2dOptions& options,
                        const ParameterOptions& parameters, Place place) {
  return Layer("transposed_conv2d", [=](Walk& walk, const Tree& input) {
    const Tensor& x = input.tensor();
    check_image(x, "transposed_conv2d", place);
    const Shape shape{kernel.y, kernel.x, filters, x.shape()[3]};
    const Tensor weights = walk.parameter("weights", shape, transposed_conv2d_fans(shape), parameters.initializer);
    return Tree(retrace::transposed_conv2d(x, with_bias(walk, weights, parameters.bias, filters), options, place));
  });
}

}  // namespace retrace::nn
