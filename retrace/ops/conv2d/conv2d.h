#ifndef RETRACE_OPS_CONV2D_H
#define RETRACE_OPS_CONV2D_H
// Convolution of images.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tree.h"

namespace retrace {

// Options of conv2d: stride and dilation of the window, padding of the image, groups of channels.
struct Conv2dOptions {
  Pair stride = 1;
  Padding padding = {};
  Pair dilation = 1;
  int64_t groups = 1;
};

// Convolution of images (cross-correlation: the kernel is not flipped):
//   y[n,oy,ox,o] = sum over ky, c, kx of x[n, oy*stride_y + ky*dilation_y - top, ox*stride_x + kx*dilation_x - left, c]
//                                       * weights[ky,kx,c,o]
// Each output is one sum in the fixed order of docs/numerics.md 2; elements outside of the image are absent. x is
// [n,h,w,c], f32 or f64, unlabelled or "BSSC"; y keeps its labels. weights are [kh,kw,c/groups,o]; filter o sees the
// channels of its group. Gradients: two convolutions in the same order of sums. Error(usage) for wrong ranks,
// types or channels, and for a window that is larger than the padded image.
Tensor conv2d(const Tensor& x, const Tensor& weights, const Conv2dOptions& options = {}, Place place = Place::here());

// The same plus a bias: [o] or one number, added after the sum by an add of its own.
Tensor conv2d(const Tensor& x, const Tensor& weights, const Tensor& bias, const Conv2dOptions& options = {},
              Place place = Place::here());

// The same with a layer's parameters: {weights, bias} or {weights}.
Tensor conv2d(const Tensor& x, const Tree& layer, const Conv2dOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CONV2D_H
