#ifndef RETRACE_OPS_MAX_POOL2D_H
#define RETRACE_OPS_MAX_POOL2D_H
// Maximum pooling of images.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of max_pool2d: stride of the window, padding of the image.
struct MaxPool2dOptions {
  PoolStride stride = {};  // the window
  Padding padding = {};
};

// y[n,oy,ox,c] = maximum over the window of x[n, oy*stride_y + ky - top, ox*stride_x + kx - left, c], in ascending
// order of (ky, kx): the first maximum wins, and the first NaN wins over everything. Elements outside of the image are
// absent. x is [n,h,w,c], f32 or f64, unlabelled or "BSSC"; y keeps its labels. Gradient: dy goes to the one element
// that won; where windows overlap, their shares are added from +0 in ascending order of the windows. Error(usage) for
// wrong ranks or types, and for a window that does not fit or could lie outside of the image.
Tensor max_pool2d(const Tensor& x, Pair pool, const MaxPool2dOptions& options = {}, Place place = Place::here());

// Maximum pooling with one window, the whole image: y is [n,1,1,c].
Tensor global_max_pool2d(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MAX_POOL2D_H
