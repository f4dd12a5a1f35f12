#include "retrace/nn/layers/conv2d.h"

#include <algorithm>

namespace retrace::nn {

Layer conv2d(Pair kernel, int64_t filters, const Conv2dOptions& options, const ParameterOptions& parameters,
             Place place) {
  return Layer("conv2d", [=](Walk& walk, const Tree& input) {
    const Tensor& x = input.tensor();
    check_image(x, "conv2d", place);
    const int64_t groups = std::max<int64_t>(1, options.groups);
    const Shape shape{kernel.y, kernel.x, x.shape()[3] / groups, filters};
    const Tensor weights = walk.parameter("weights", shape, conv2d_fans(shape, groups), parameters.initializer);
    return Tree(retrace::conv2d(x, with_bias(walk, weights, parameters.bias, filters), options, place));
  });
}

}  // namespace retrace::nn
