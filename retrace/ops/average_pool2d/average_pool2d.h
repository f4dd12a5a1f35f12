#ifndef RETRACE_OPS_AVERAGE_POOL2D_H
#define RETRACE_OPS_AVERAGE_POOL2D_H
// Average pooling of images.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of average_pool2d. count_padding: padded zeros count in the divisor.
struct AveragePool2dOptions {
  PoolStride stride = {};  // the window
  Padding padding = {};
  bool count_padding = false;
};

// y[n,oy,ox,c] = mean over the window of x[n, oy*stride_y + ky - top, ox*stride_x + kx - left, c]: one sum from +0 in
// ascending order of (ky, kx), then one division. The divisor is the number of elements inside of the image, or, with
// count_padding, of the whole window. x is [n,h,w,c], f32 or f64, unlabelled or "BSSC"; y keeps its labels. Gradient:
// dy / divisor for each window, added from +0 in ascending order of the windows. Error(usage) for wrong ranks or types,
// and for a window that does not fit or could lie outside of the image.
Tensor average_pool2d(const Tensor& x, Pair pool, const AveragePool2dOptions& options = {},
                      Place place = Place::here());

// Average pooling with one window, the whole image: y is [n,1,1,c].
Tensor global_average_pool2d(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_AVERAGE_POOL2D_H
