#include "retrace/ops/transposed_conv1d/transposed_conv1d.h"

#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sequence_window.h"
#include "retrace/ops/transposed_conv2d/transposed_conv2d.h"

namespace retrace {
namespace {

// The weights of an image one row high.
Tensor image_weights_transposed_conv1d(const Tensor& x, const Tensor& weights, Place place) {
  check_defined("transposed_conv1d", x, place);
  check_defined("transposed_conv1d", weights, place);
  const Shape& s = weights.shape();
  if (s.rank() != 3 || (x.rank(place) == 3 && x.shape()[2] != s[2]))
    throw Error(ErrorKind::usage, 437, "transposed_conv1d: the weights do not fit x")
        .where(place)
        .got(fmt::format("x {}, weights {}", x.spec().text(), weights.spec().text()))
        .expected("x [batch,length,channels] and weights [size,filters,channels]");
  return reshape(weights, {1, s[0], s[1], s[2]}, "", place);
}

TransposedConv2dOptions image_options_transposed_conv1d(const TransposedConv1dOptions& options, int64_t size) {
  const auto& [stride, cropping] = options;
  Padding cut(0, 0, cropping.front, cropping.behind);
  if (cropping.is_same || cropping.is_causal) cut = same;
  if (cropping.is_causal && size > stride) cut = {0, 0, 0, size - stride};
  return {.stride = {1, stride}, .cropping = cut};
}

}  // namespace

Tensor transposed_conv1d(const Tensor& x, const Tensor& weights, const TransposedConv1dOptions& options, Place place) {
  const Tensor w = image_weights_transposed_conv1d(x, weights, place);
  const Tensor image = image_of_sequence("transposed_conv1d", x, place);
  const auto of_image = image_options_transposed_conv1d(options, weights.shape()[0]);
  return sequence_of_image(transposed_conv2d(image, w, of_image, place), x, place);
}

Tensor transposed_conv1d(const Tensor& x, const Tensor& weights, const Tensor& bias,
                         const TransposedConv1dOptions& options, Place place) {
  const Tensor w = image_weights_transposed_conv1d(x, weights, place);
  const Tensor image = image_of_sequence("transposed_conv1d", x, place);
  const auto of_image = image_options_transposed_conv1d(options, weights.shape()[0]);
  return sequence_of_image(transposed_conv2d(image, w, bias, of_image, place), x, place);
}

void define_transposed_conv1d(OpTable&) {}  // no op of its own: it is transposed_conv2d of an image one row high

}  // namespace retrace
