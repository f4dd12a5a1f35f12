#ifndef RETRACE_OPS_TRANSPOSED_CONV3D_H
#define RETRACE_OPS_TRANSPOSED_CONV3D_H
// Transposed convolution of volumes.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of transposed_conv3d: distance of the input's elements in the output, and what is cut off its border.
struct TransposedConv3dOptions {
  Triple stride = 1;
  VolumePadding cropping = {};
};

// The adjoint of the conv3d that has the same weights, as an operation of its own:
//   y[n, iz*stride_z + kz - front, iy*stride_y + ky - top, ix*stride_x + kx - left, f] += x[n,iz,iy,ix,c] *
//   weights[kz,ky,kx,f,c]
// It is transposed_conv2d of the images at all depths, which makes the images of each kz side by side: each is one sum
// in the fixed order of docs/numerics.md 2 (ky, channel c, kx). Those that meet at one depth are added in ascending
// order of kz. Their memory is that of y, kz / stride_z times. x is [n,depth,height,width,channels], f32 or f64,
// unlabelled or "BSSSC"; y keeps its labels. weights are [kd,kh,kw,filters,channels]: those of the matching
// convolution, which leads from `filters` back to `channels`. Along each axis the output has stride * (in - 1) + size -
// cropping elements; with cropping `same` stride * in, and an odd surplus is cut off the end. Gradients: those of
// transposed_conv2d. Error(usage) for wrong ranks, labels, types or channels, and for a cropping that leaves nothing.
Tensor transposed_conv3d(const Tensor& x, const Tensor& weights, const TransposedConv3dOptions& options = {},
                         Place place = Place::here());

// The same plus a bias: [filters] or one number, added after the sum by an add of its own.
Tensor transposed_conv3d(const Tensor& x, const Tensor& weights, const Tensor& bias,
                         const TransposedConv3dOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_TRANSPOSED_CONV3D_H
