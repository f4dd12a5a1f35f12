#pragma once
// Convolution of images (cross-correlation: the kernel is not flipped) and its two gradients. The three are ops of one
// family, closed under differentiation. Each output is one sum in the fixed order of docs/numerics.md 2; elements
// outside of the image are absent.
//
//   y[n,oy,ox,o] = sum over ky, c, kx of x[n, oy*stride_y + ky*dilation_y - top, ox*stride_x + kx*dilation_x - left, c]
//                                       * weights[ky,kx,c,o]
// x is [n,h,w,c], unlabelled or "BSSC"; y keeps its labels. weights are [kh,kw,c/groups,o]; filter o sees the channels
// of its group. Errors: wrong ranks, types, channels, a window larger than the padded image.

#include "retrace/ops/window.h"
#include "retrace/tensor/tree.h"

namespace retrace {

struct Conv2dOptions {
  Pair stride = 1;
  Padding padding = {};
  Pair dilation = 1;
  int groups = 1;
};

Tensor conv2d(const Tensor& x, const Tensor& weights, const Conv2dOptions& options = {}, Place place = Place::here());
// y + bias; bias is [o] or one number.
Tensor conv2d(const Tensor& x, const Tensor& weights, const Tensor& bias, const Conv2dOptions& options = {},
              Place place = Place::here());
// The layer {weights, bias} or {weights}.
Tensor conv2d(const Tensor& x, const Tree& layer, const Conv2dOptions& options = {}, Place place = Place::here());

// What the ops record: {top, bottom, left, right} instead of `same`.
struct Conv2dGeometry {
  Shape stride{1, 1}, padding{0, 0, 0, 0}, dilation{1, 1};
  int64_t groups = 1;
};

// dx of that convolution from dy [n,oh,ow,o]: the image has `size` = {h, w}, which must lead to the size of dy.
Tensor conv2d_input_gradient(const Tensor& dy, const Tensor& weights, const Conv2dGeometry& geometry, const Shape& size,
                             Place place = Place::here());
// dweights of that convolution from x and dy: [kh,kw,c/groups,o], with `kernel` = {kh, kw}.
Tensor conv2d_filter_gradient(const Tensor& x, const Tensor& dy, const Conv2dGeometry& geometry, const Shape& kernel,
                              Place place = Place::here());

}  // namespace retrace
