#ifndef RETRACE_OPS_MAX_POOL1D_H
#define RETRACE_OPS_MAX_POOL1D_H
// Maximum pooling of sequences.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of max_pool1d: stride of the window, which is its size where it is 0, and padding of the sequence.
struct MaxPool1dOptions {
  int64_t stride = 0;
  EndPadding padding = {};
};

// y[n,t,c] = maximum over k of x[n, t*stride + k - front, c]: the first maximum wins, and the first NaN
// wins over everything. It is max_pool2d of an image one row high, with its gradient.
// x is [batch,length,channels], f32 or f64, unlabelled or "BTC"; y keeps its labels. Error(usage) for wrong ranks,
// labels or types, and for a window that does not fit or could lie outside of the sequence.
Tensor max_pool1d(const Tensor& x, int64_t size, const MaxPool1dOptions& options = {}, Place place = Place::here());

// Maximum pooling with one window, the whole sequence: y is [batch,1,channels].
Tensor global_max_pool1d(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MAX_POOL1D_H
