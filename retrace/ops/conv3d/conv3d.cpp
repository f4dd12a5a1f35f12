#include "retrace/ops/conv3d/conv3d.h"

#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/conv2d/conv2d.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/transpose/transpose.h"
#include "retrace/ops/volume_window.h"

namespace retrace {
namespace {

// A convolution of images that is one of volumes.
struct ImageConvolution {
  Tensor images, weights;
  Conv2dOptions options;
  int64_t depth;  // images of a volume that it makes
};

Tensor padded_conv3d(const Tensor& x, const DepthWindow& window, Place place) {
  if (window.front == 0 && window.back == 0) return x;
  Shape shape = x.shape();
  shape[1] += window.front + window.back;
  return pad(x, shape, {.begin = {0, window.front, 0, 0, 0}}, place);
}

// [batch * outputs,height,width,size * channels]: the images of each window side by side, group by group.
Tensor window_images(const Tensor& x, const DepthWindow& window, int64_t groups, Place place) {
  const Shape& s = x.shape();
  const int64_t images = s[0] * window.outputs, last = (window.outputs - 1) * window.stride;
  const Tensor whole = padded_conv3d(x, window, place);
  std::vector<Tensor> taps;
  for (int64_t k = 0; k < window.size; ++k) {
    const int64_t begin = k * window.dilation;
    const Tensor tap = slice(whole, 1, {begin, begin + last + 1, window.stride}, place);
    taps.push_back(reshape(tap, {images, s[2], s[3], groups, s[4] / groups}, "", place));
  }
  const Tensor joined = taps.size() == 1 ? taps[0] : concatenate(taps, -1, place);
  return reshape(joined, {images, s[2], s[3], window.size * s[4]}, "", place);
}

// [kd,kh,kw,c,o] as [kh,kw,kd * c,o].
Tensor image_weights_conv3d(const Tensor& weights, Place place) {
  const Shape& s = weights.shape();
  const Tensor bare = reshape(weights, s, "", place);
  const Tensor moved = s[0] == 1 ? bare : transpose(bare, {1, 2, 0, 3, 4}, place);
  return reshape(moved, {s[1], s[2], s[0] * s[3], s[4]}, "", place);
}

void check_weights_conv3d(const Tensor& x, const Tensor& weights, int64_t groups, Place place) {
  check_defined("conv3d", weights, place);
  const auto refuse = [&](const std::string& message, const std::string& expected) {
    throw Error(ErrorKind::usage, 281, "conv3d: " + message)
        .where(place)
        .got(fmt::format("x {}, weights {}, groups {}", x.spec().text(), weights.spec().text(), groups))
        .expected(expected);
  };
  if (weights.rank() != 5)
    refuse(fmt::format("the weights have {} axes", weights.rank()), "5 axes [depth,height,width,channels,filters]");
  const int64_t channels = x.shape()[4];
  if (groups < 1 || channels % groups != 0 || weights.shape()[3] != channels / groups)
    refuse(
        fmt::format("weights of {} channels do not fit {} channels in {} groups", weights.shape()[3], channels, groups),
        "channels of x = groups x channels of the weights");
}

ImageConvolution image_convolution(const Tensor& x, const Tensor& weights, const Conv3dOptions& options, Place place) {
  check_volume("conv3d", x, place);
  check_weights_conv3d(x, weights, options.groups, place);
  const DepthWindow window =
      depth_window("conv3d", x, weights.shape()[0], options.stride.z, options.dilation.z, options.padding.depth, place);
  return {window_images(x, window, options.groups, place),
          image_weights_conv3d(weights, place),
          {.stride = {options.stride.y, options.stride.x},
           .padding = options.padding.image,
           .dilation = {options.dilation.y, options.dilation.x},
           .groups = options.groups},
          window.outputs};
}

}  // namespace

Tensor conv3d(const Tensor& x, const Tensor& weights, const Conv3dOptions& options, Place place) {
  const auto [images, w, image_options, depth] = image_convolution(x, weights, options, place);
  return volume_of_images(conv2d(images, w, image_options, place), depth, x, place);
}

Tensor conv3d(const Tensor& x, const Tensor& weights, const Tensor& bias, const Conv3dOptions& options, Place place) {
  const auto [images, w, image_options, depth] = image_convolution(x, weights, options, place);
  return volume_of_images(conv2d(images, w, bias, image_options, place), depth, x, place);
}

void define_conv3d(OpTable&) {}  // no op of its own: it is conv2d of the window's images side by side

}  // namespace retrace
