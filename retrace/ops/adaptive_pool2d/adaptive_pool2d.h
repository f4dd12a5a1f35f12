#ifndef RETRACE_OPS_ADAPTIVE_POOL2D_H
#define RETRACE_OPS_ADAPTIVE_POOL2D_H
// Pooling of images to a given size.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// y[n,i,j,c] = the mean of x over the rows floor(i * h / size.y) .. ceil((i + 1) * h / size.y) - 1 and the columns
// alike (PyTorch: adaptive_avg_pool2d). Where both sizes divide those of the image it is average_pool2d with windows of
// h / size.y x w / size.x; else the means of the columns are taken first and then those of the rows, each as
// average_pool2d takes it. x is [n,h,w,c], f32 or f64, unlabelled or "BSSC"; y keeps its labels. Gradients: those of
// average_pool2d; what several windows give to one element is added in a fixed order. Error(usage) for wrong ranks,
// types or labels, an image without pixels, and sizes that are not 1 to 4096.
Tensor adaptive_average_pool2d(const Tensor& x, Pair size, Place place = Place::here());

// The maxima of the same windows (PyTorch: adaptive_max_pool2d): in ascending order of rows and columns the first
// maximum wins, and the first NaN wins over everything. Gradient: dy goes to the one element that won; what several
// windows give to one element is added in a fixed order. Arguments and errors as above.
Tensor adaptive_max_pool2d(const Tensor& x, Pair size, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ADAPTIVE_POOL2D_H
