#pragma once
// Transposed convolution: the input gradient of the convolution that has the same weights, as an operation of its own.
//
//   y[n, iy*stride_y + ky - top, ix*stride_x + kx - left, f] += x[n,iy,ix,c] * weights[ky,kx,f,c]
// as one sum for each output, in the fixed order of docs/numerics.md 2 (kernel row, channel c, kernel column).
// x is [n,h,w,channels], unlabelled or "BSSC"; y keeps its labels. weights are [kh,kw,filters,channels]: those of the
// matching convolution, which leads from `filters` back to `channels`. The output size is
// stride * (in - 1) + k - cropping; with cropping `same` it is stride * in, the surplus cut off at the end.

#include "retrace/ops/window.h"
#include "retrace/tensor/tree.h"

namespace retrace {

struct TransposedConv2dOptions {
  Pair stride = 1;
  Padding cropping = {};
};

Tensor transposed_conv2d(const Tensor& x, const Tensor& weights, const TransposedConv2dOptions& options = {},
                         Place place = Place::here());
// y + bias; bias is [filters] or one number.
Tensor transposed_conv2d(const Tensor& x, const Tensor& weights, const Tensor& bias,
                         const TransposedConv2dOptions& options = {}, Place place = Place::here());
// The layer {weights, bias} or {weights}.
Tensor transposed_conv2d(const Tensor& x, const Tree& layer, const TransposedConv2dOptions& options = {},
                         Place place = Place::here());

}  // namespace retrace
