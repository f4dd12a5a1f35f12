#ifndef RETRACE_OPS_TRANSPOSED_CONV2D_H
#define RETRACE_OPS_TRANSPOSED_CONV2D_H
// Transposed convolution of images.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tree.h"

namespace retrace {

// Options of transposed_conv2d: stride of the input's pixels in the output, and what is cut off the output's border.
struct TransposedConv2dOptions {
  Pair stride = 1;
  Padding cropping = {};
};

// The input gradient of the convolution that has the same weights, as an operation of its own:
//   y[n, iy*stride_y + ky - top, ix*stride_x + kx - left, f] += x[n,iy,ix,c] * weights[ky,kx,f,c]
// as one sum for each output, in the fixed order of docs/numerics.md 2 (kernel row, channel c, kernel column). x is
// [n,h,w,channels], f32 or f64, unlabelled or "BSSC"; y keeps its labels. weights are [kh,kw,filters,channels]: those
// of the matching convolution, which leads from `filters` back to `channels`. The output size is stride * (in - 1) + k
// - cropping; with cropping `same` it is stride * in, and the surplus is cut off at the end. Gradients: conv2d and
// conv2d_filter_gradient. Error(usage) for wrong ranks, types or channels.
Tensor transposed_conv2d(const Tensor& x, const Tensor& weights, const TransposedConv2dOptions& options = {},
                         Place place = Place::here());

// The same plus a bias: [filters] or one number, added after the sum by an add of its own.
Tensor transposed_conv2d(const Tensor& x, const Tensor& weights, const Tensor& bias,
                         const TransposedConv2dOptions& options = {}, Place place = Place::here());

// The same with a layer's parameters: {weights, bias} or {weights}.
Tensor transposed_conv2d(const Tensor& x, const Tree& layer, const TransposedConv2dOptions& options = {},
                         Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_TRANSPOSED_CONV2D_H
