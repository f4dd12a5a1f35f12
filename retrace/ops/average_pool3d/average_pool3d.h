#ifndef RETRACE_OPS_AVERAGE_POOL3D_H
#define RETRACE_OPS_AVERAGE_POOL3D_H
// Average pooling of volumes.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of average_pool3d: stride of the window, which is its size where it is 0, padding of the volume, and whether
// padded zeros count in the divisor.
struct AveragePool3dOptions {
  Triple stride = 0;
  VolumePadding padding = {};
  bool count_padding = false;
};

// y[n,oz,oy,ox,c] = mean over the window of x[n,z,y,x,c]: average_pool2d of each image, then the mean of these along
// the depth, with their sums, divisions and gradients. x is [batch,depth,height,width,channels], f32 or f64, unlabelled
// or "BSSSC"; y keeps its labels. Error(usage) for wrong ranks, labels or types, and for a window that does not fit or
// could lie outside of the volume.
Tensor average_pool3d(const Tensor& x, Triple size, const AveragePool3dOptions& options = {},
                      Place place = Place::here());

// The mean of the whole volume, as one sum in ascending order and one division: y is [batch,1,1,1,channels].
Tensor global_average_pool3d(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_AVERAGE_POOL3D_H
