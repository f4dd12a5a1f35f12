#ifndef RETRACE_OPS_ADAPTIVE_POOL3D_H
#define RETRACE_OPS_ADAPTIVE_POOL3D_H
// Pooling of volumes to a given size.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// y[n,i,j,k,c] = the mean of x over the images floor(i * depth / size.z) .. ceil((i + 1) * depth / size.z) - 1, rows
// and columns alike (PyTorch: adaptive_avg_pool3d): adaptive_average_pool2d of each image, then of the images along the
// depth, with its gradient. x is [batch,depth,height,width,channels], f32 or f64, unlabelled or "BSSSC"; y keeps its
// labels. Error(usage) for wrong ranks, types or labels, a volume without elements, and sizes that are not 1 to 4096.
Tensor adaptive_average_pool3d(const Tensor& x, Triple size, Place place = Place::here());

// The maxima of the same windows (PyTorch: adaptive_max_pool3d), in the same steps; in ascending order of images, rows
// and columns the first maximum wins, and the first NaN wins over everything. Arguments and errors as above.
Tensor adaptive_max_pool3d(const Tensor& x, Triple size, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ADAPTIVE_POOL3D_H
