#include "retrace/ops/transposed_conv3d/transposed_conv3d.h"

#include <algorithm>

#include "retrace/ops/add/add.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/transpose/transpose.h"
#include "retrace/ops/transposed_conv2d/transposed_conv2d.h"
#include "retrace/ops/volume_window.h"
#include "retrace/ops/window.h"

namespace retrace {
namespace {

constexpr int64_t kMostDepth = int64_t{1} << 30;

[[noreturn]] void refuse_transposed_conv3d(const std::string& message, const Tensor& x, const Tensor& weights,
                                           const std::string& expected, Place place) {
  throw Error(ErrorKind::usage, 438, "transposed_conv3d: " + message)
      .where(place)
      .got(fmt::format("x {}, weights {}", x.spec().text(), weights.spec().text()))
      .expected(expected);
}

// How the depth grows: by `stride`, `front` of what is made is cut off, and `depth` of it left.
struct Growth {
  int64_t stride, size, front, depth;
};

Growth growth_of(const Tensor& x, const Tensor& weights, const TransposedConv3dOptions& options, Place place) {
  const int64_t in = x.shape()[1], size = weights.shape()[0], stride = options.stride.z;
  const EndPadding& cut = options.cropping.depth;
  if (stride < 1 || stride > kMostDepth / std::max<int64_t>(in, 1))
    refuse_transposed_conv3d(fmt::format("the stride of the depth is {}", stride), x, weights,
                             fmt::format("1 or more, and at most {} images", kMostDepth), place);
  if (cut.is_same) return {stride, size, std::max<int64_t>(size - stride, 0) / 2, stride * in};
  if (std::min(cut.front, cut.behind) < 0 || std::max(cut.front, cut.behind) > kMostDepth)
    refuse_transposed_conv3d(fmt::format("the cropping {}, {} of the depth is not possible", cut.front, cut.behind), x,
                             weights, "a cropping of 0 or more", place);
  const int64_t depth = stride * (in - 1) + size - cut.front - cut.behind;
  if (depth < 1)
    refuse_transposed_conv3d(fmt::format("the output would have the depth {}", depth), x, weights,
                             "a depth of at least 1: stride * (in - 1) + size - cropping", place);
  return {stride, size, cut.front, depth};
}

// [kd,kh,kw,filters,channels] as [kh,kw,kd * filters,channels].
Tensor image_weights_transposed_conv3d(const Tensor& weights, Place place) {
  const Shape& s = weights.shape();
  const Tensor bare = reshape(weights, s, "", place);
  const Tensor moved = s[0] == 1 ? bare : transpose(bare, {1, 2, 0, 3, 4}, place);
  return reshape(moved, {s[1], s[2], s[0] * s[3], s[4]}, "", place);
}

// The images of tap k, [batch,in,..], `by` rows down in an array of `rows`.
Tensor moved_down(const Tensor& tap, int64_t by, int64_t rows, Place place) {
  const int64_t in = std::min(tap.shape()[1], rows - by);
  Shape shape = tap.shape();
  if (in <= 0) return Tensor();
  const Tensor left = in == shape[1] ? tap : slice(tap, 1, {0, in}, place);
  if (in == rows) return left;
  shape[1] = rows;
  return pad(left, shape, {.begin = {0, by, 0, 0, 0}}, place);
}

// [batch,in,height,width,taps * filters] to [batch,depth,height,width,filters]. Every stride-th image of the output is
// a sum over every stride-th tap: a phase.
Tensor added_along_depth(const Tensor& taps, const Growth& growth, int64_t filters, Place place) {
  const Shape& s = taps.shape();
  const int64_t rows = (growth.front + growth.depth + growth.stride - 1) / growth.stride;
  const Shape row{s[0], rows, s[2], s[3], filters};
  std::vector<Tensor> phases;
  for (int64_t phase = 0; phase < growth.stride; ++phase) {
    Tensor sum;
    for (int64_t k = phase; k < growth.size; k += growth.stride) {
      const Tensor tap = growth.size == 1 ? taps : slice(taps, -1, {k * filters, (k + 1) * filters}, place);
      const Tensor moved = moved_down(tap, k / growth.stride, rows, place);
      if (moved.defined()) sum = sum.defined() ? add(sum, moved, place) : moved;
    }
    phases.push_back(sum.defined() ? sum : broadcast(constant_like(taps, 0), row, "", place));
  }
  const Tensor woven = phases.size() == 1 ? phases[0] : stack(phases, 2, place);
  const Tensor whole = reshape(woven, {s[0], rows * growth.stride, s[2], s[3], filters}, "", place);
  if (growth.front == 0 && growth.depth == rows * growth.stride) return whole;
  return slice(whole, 1, {growth.front, growth.front + growth.depth}, place);
}

}  // namespace

Tensor transposed_conv3d(const Tensor& x, const Tensor& weights, const TransposedConv3dOptions& options, Place place) {
  check_volume("transposed_conv3d", x, place);
  check_defined("transposed_conv3d", weights, place);
  if (weights.rank(place) != 5 || weights.shape()[4] != x.shape()[4] || weights.shape()[0] < 1)
    refuse_transposed_conv3d("the weights do not fit x", x, weights,
                             "x [batch,depth,height,width,channels] and weights [depth,height,width,filters,channels]",
                             place);
  const Growth growth = growth_of(x, weights, options, place);
  const int64_t in = x.shape()[1], filters = weights.shape()[3];
  const Tensor images =
      transposed_conv2d(images_of_volume(x, place), image_weights_transposed_conv3d(weights, place),
                        {.stride = {options.stride.y, options.stride.x}, .cropping = options.cropping.image}, place);
  const Shape& s = images.shape();
  const Tensor taps = reshape(images, {x.shape()[0], in, s[1], s[2], s[3]}, "", place);
  const Tensor y = added_along_depth(taps, growth, filters, place);
  return x.labels().empty() ? y : reshape(y, y.shape(), x.labels(), place);
}

Tensor transposed_conv3d(const Tensor& x, const Tensor& weights, const Tensor& bias,
                         const TransposedConv3dOptions& options, Place place) {
  const Tensor y = transposed_conv3d(x, weights, options, place);
  const int64_t filters = weights.shape()[3];
  if (bias.rank(place) > 1 || (bias.size() != 1 && bias.size() != filters))
    refuse_transposed_conv3d(fmt::format("the bias {} does not fit {} filters", bias.spec().text(), filters), x,
                             weights, fmt::format("a bias of the shape [{}], or one number", filters), place);
  return add(y, bias, place);
}

void define_transposed_conv3d(OpTable&) {
}  // no op of its own: it is transposed_conv2d of images, added along the depth

}  // namespace retrace
