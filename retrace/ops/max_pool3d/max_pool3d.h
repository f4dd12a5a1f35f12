#ifndef RETRACE_OPS_MAX_POOL3D_H
#define RETRACE_OPS_MAX_POOL3D_H
// Maximum pooling of volumes.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of max_pool3d: stride of the window, which is its size where it is 0, and padding of the volume.
struct MaxPool3dOptions {
  Triple stride = 0;
  VolumePadding padding = {};
};

// y[n,oz,oy,ox,c] = maximum over the window of x[n,z,y,x,c], in ascending order of (kz, ky, kx): the first maximum
// wins, and the first NaN wins over everything. It is max_pool2d of each image, then along the depth, with their
// gradients. x is [batch,depth,height,width,channels], f32 or f64, unlabelled or "BSSSC"; y keeps its labels.
// Error(usage) for wrong ranks, labels or types, and for a window that does not fit or could lie outside of the volume.
Tensor max_pool3d(const Tensor& x, Triple size, const MaxPool3dOptions& options = {}, Place place = Place::here());

// Maximum pooling with one window, the whole volume: y is [batch,1,1,1,channels].
Tensor global_max_pool3d(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MAX_POOL3D_H
