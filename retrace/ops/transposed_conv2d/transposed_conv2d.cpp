#include "retrace/ops/transposed_conv2d/transposed_conv2d.h"

#include <algorithm>

#include "retrace/ops/add/add.h"
#include "retrace/ops/conv2d/conv2d.h"
#include "retrace/ops/conv2d/conv2d_gradients.h"
#include "retrace/ops/window.h"

namespace retrace {
namespace {

[[noreturn]] void refuse_transposed_conv2d(const std::string& message, const Tensor& x, const Tensor& weights,
                                           const std::string& expected, Place place) {
  throw Error(ErrorKind::usage, 158, "transposed_conv2d: " + message)
      .where(place)
      .got(fmt::format("x {}, weights {}", x.spec().text(), weights.spec().text()))
      .expected(expected);
}

void check_arguments(const Tensor& x, const Tensor& weights, Place place) {
  if (x.rank(place) != 4 || weights.rank(place) != 4)
    refuse_transposed_conv2d(
        fmt::format("x has {} axes, weights have {}", x.rank(), weights.rank()), x, weights,
        "x [batch,height,width,channels] and weights [kernel height,kernel width,filters,channels]", place);
  if (x.shape()[3] != weights.shape()[3])
    refuse_transposed_conv2d(fmt::format("x has {} channels, weights expect {}", x.shape()[3], weights.shape()[3]), x,
                             weights, "channels of x = last axis of the weights", place);
}

// Limits that keep every computed size from overflowing.
void check_options_transposed_conv2d(const Tensor& x, const Tensor& weights, const TransposedConv2dOptions& options,
                                     Place place) {
  const auto [stride, cropping] = options;
  const auto too_large = [](int64_t value, int64_t times) {
    return value > kMaxElements / std::max<int64_t>(times, 1);
  };
  if (too_large(stride.y, x.shape()[1]) || too_large(stride.x, x.shape()[2]))
    refuse_transposed_conv2d(fmt::format("stride {} x {} makes the output too large", stride.y, stride.x), x, weights,
                             fmt::format("an output of at most {} elements", kMaxElements), place);
  if (cropping.is_same) return;
  for (int64_t crop : {cropping.top, cropping.bottom, cropping.left, cropping.right})
    if (crop < -kMaxElements || crop > kMaxElements)
      refuse_transposed_conv2d(fmt::format("the cropping {} is not possible", crop), x, weights,
                               "a cropping of 0 or more", place);
}

}  // namespace

Tensor transposed_conv2d(const Tensor& x, const Tensor& weights, const TransposedConv2dOptions& options, Place place) {
  check_arguments(x, weights, place);
  check_options_transposed_conv2d(x, weights, options, place);
  const auto [stride, cropping] = options;
  const Shape &in = x.shape(), &kernel = weights.shape();
  Conv2dGeometry geometry;
  geometry.stride = {stride.y, stride.x};
  Shape size{stride.y * in[1], stride.x * in[2]};
  geometry.padding = resolved_padding(cropping, {size[0], size[1]}, {kernel[0], kernel[1]}, stride, 1);
  if (!cropping.is_same)
    size = {stride.y * (in[1] - 1) + kernel[0] - cropping.top - cropping.bottom,
            stride.x * (in[2] - 1) + kernel[1] - cropping.left - cropping.right};
  if (size[0] < 1 || size[1] < 1)
    refuse_transposed_conv2d(fmt::format("the output would have the size {} x {}", size[0], size[1]), x, weights,
                             "an output of at least 1 x 1: stride * (in - 1) + kernel - cropping", place);
  return conv2d_input_gradient(x, weights, geometry, size, place);
}

Tensor transposed_conv2d(const Tensor& x, const Tensor& weights, const Tensor& bias,
                         const TransposedConv2dOptions& options, Place place) {
  const Tensor y = transposed_conv2d(x, weights, options, place);
  const int64_t filters = weights.shape()[2];
  if (bias.rank(place) > 1 || (bias.size() != 1 && bias.size() != filters))
    refuse_transposed_conv2d(fmt::format("the bias {} does not fit {} filters", bias.spec().text(), filters), x,
                             weights, fmt::format("a bias of the shape [{}], or one number", filters), place);
  return add(y, bias, place);
}

Tensor transposed_conv2d(const Tensor& x, const Tree& layer, const TransposedConv2dOptions& options, Place place) {
  if (layer.is_leaf()) return transposed_conv2d(x, layer.tensor(), options, place);
  const Tensor& weights = layer["weights"];
  return layer.contains("bias") ? transposed_conv2d(x, weights, layer["bias"].tensor(), options, place)
                                : transposed_conv2d(x, weights, options, place);
}

void define_transposed_conv2d(OpTable&) {}  // no op of its own: it is conv2d_input_gradient

}  // namespace retrace
