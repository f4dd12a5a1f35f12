#ifndef RETRACE_OPS_CONV3D_H
#define RETRACE_OPS_CONV3D_H
// Convolution of volumes.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of conv3d: stride and dilation of the window, padding of the volume, groups of channels.
struct Conv3dOptions {
  Triple stride = 1;
  VolumePadding padding = {};
  Triple dilation = 1;
  int64_t groups = 1;
};

// Convolution of volumes (cross-correlation: the kernel is not flipped):
//   y[n,oz,oy,ox,o] = sum over kz, ky, c, kx of x[n, oz*stride_z + kz*dilation_z - front, .., .., c]
//                                             * weights[kz,ky,kx,c,o]
// with height and width as in conv2d. It is conv2d of the images at all depths, whose channels are those of the
// window's images side by side: each output is one sum in the fixed order of docs/numerics.md 2 over ky, (kz, c), kx.
// Images outside of the volume count as zeros, rows and columns outside are absent. The memory of x is taken once for
// each image of the window. x is [batch,depth,height,width,channels], f32 or f64, unlabelled or "BSSSC"; y keeps its
// labels. weights are [kd,kh,kw,c/groups,o]; filter o sees the channels of its group. Gradients: those of conv2d; what
// several windows give to an image is added in ascending order of kz. Error(usage) for wrong ranks, labels, types or
// channels, and for a window that is larger than the padded volume.
Tensor conv3d(const Tensor& x, const Tensor& weights, const Conv3dOptions& options = {}, Place place = Place::here());

// The same plus a bias: [o] or one number, added after the sum by an add of its own.
Tensor conv3d(const Tensor& x, const Tensor& weights, const Tensor& bias, const Conv3dOptions& options = {},
              Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CONV3D_H
