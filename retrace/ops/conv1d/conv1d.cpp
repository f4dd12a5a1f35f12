#include "retrace/ops/conv1d/conv1d.h"

#include "retrace/ops/conv2d/conv2d.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sequence_window.h"

namespace retrace {
namespace {

// The weights of an image one row high.
Tensor image_weights_conv1d(const Tensor& weights, Place place) {
  check_defined("conv1d", weights, place);
  const Shape& s = weights.shape();
  if (s.rank() != 3)
    throw Error(ErrorKind::usage, 273, fmt::format("conv1d: the weights have {} axes", s.rank()))
        .where(place)
        .got(fmt::format("weights {}", weights.spec().text()))
        .expected("3 axes [size,channels,filters]");
  return reshape(weights, {1, s[0], s[1], s[2]}, "", place);
}

Conv2dOptions image_options(const Conv1dOptions& options, int64_t size) {
  return {.stride = {1, options.stride},
          .padding = image_padding(options.padding, size, options.dilation),
          .dilation = {1, options.dilation},
          .groups = options.groups};
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& weights, const Conv1dOptions& options, Place place) {
  const Tensor image = image_of_sequence("conv1d", x, place), w = image_weights_conv1d(weights, place);
  return sequence_of_image(conv2d(image, w, image_options(options, weights.shape()[0]), place), x, place);
}

Tensor conv1d(const Tensor& x, const Tensor& weights, const Tensor& bias, const Conv1dOptions& options, Place place) {
  const Tensor image = image_of_sequence("conv1d", x, place), w = image_weights_conv1d(weights, place);
  return sequence_of_image(conv2d(image, w, bias, image_options(options, weights.shape()[0]), place), x, place);
}

void define_conv1d(OpTable&) {}  // no op of its own: it is conv2d of an image one row high

}  // namespace retrace
