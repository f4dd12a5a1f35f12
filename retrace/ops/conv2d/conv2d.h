#pragma once
// Convolution of images and its two gradients: three ops of one family, closed under differentiation.

#include "retrace/ops/window.h"
#include "retrace/tensor/tree.h"

namespace retrace {

// Options of conv2d: stride and dilation of the window, padding of the image, groups of channels.
struct Conv2dOptions {
  Pair stride = 1;
  Padding padding = {};
  Pair dilation = 1;
  int groups = 1;
};

// Convolution of images (cross-correlation: the kernel is not flipped):
//   y[n,oy,ox,o] = sum over ky, c, kx of x[n, oy*stride_y + ky*dilation_y - top, ox*stride_x + kx*dilation_x - left, c]
//                                       * weights[ky,kx,c,o]
// Each output is one sum in the fixed order of docs/numerics.md 2; elements outside of the image are absent. x is
// [n,h,w,c], f32 or f64, unlabelled or "BSSC"; y keeps its labels. weights are [kh,kw,c/groups,o]; filter o sees the
// channels of its group. Gradients: conv2d_input_gradient and conv2d_filter_gradient. Error(usage) for wrong ranks,
// types or channels, and for a window that is larger than the padded image.
Tensor conv2d(const Tensor& x, const Tensor& weights, const Conv2dOptions& options = {}, Place place = Place::here());

// The same plus a bias: [o] or one number, added after the sum by an add of its own.
Tensor conv2d(const Tensor& x, const Tensor& weights, const Tensor& bias, const Conv2dOptions& options = {},
              Place place = Place::here());

// The same with a layer's parameters: {weights, bias} or {weights}.
Tensor conv2d(const Tensor& x, const Tree& layer, const Conv2dOptions& options = {}, Place place = Place::here());

// The options as the ops record them: padding is {top, bottom, left, right}, with `same` resolved.
struct Conv2dGeometry {
  Shape stride{1, 1}, padding{0, 0, 0, 0}, dilation{1, 1};
  int64_t groups = 1;
};

// The gradient of that convolution for x, from dy [n,oh,ow,o]. `size` = {h, w} of the image; it must lead to the size
// of dy, or Error(usage) is thrown. Same order of sums, docs/numerics.md 2.
Tensor conv2d_input_gradient(const Tensor& dy, const Tensor& weights, const Conv2dGeometry& geometry, const Shape& size,
                             Place place = Place::here());

// The gradient of that convolution for the weights, from x and dy: [kh,kw,c/groups,o], with `kernel` = {kh, kw}. The
// sum runs over sample, output row and output column, docs/numerics.md 2. Error(usage) for sizes that do not go
// together.
Tensor conv2d_filter_gradient(const Tensor& x, const Tensor& dy, const Conv2dGeometry& geometry, const Shape& kernel,
                              Place place = Place::here());

}  // namespace retrace
