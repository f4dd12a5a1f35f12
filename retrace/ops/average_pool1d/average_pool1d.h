#ifndef RETRACE_OPS_AVERAGE_POOL1D_H
#define RETRACE_OPS_AVERAGE_POOL1D_H
// Average pooling of sequences.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of average_pool1d: stride of the window, which is its size where it is 0, and padding of the sequence.
// count_padding: padded zeros count in the divisor.
struct AveragePool1dOptions {
  int64_t stride = 0;
  EndPadding padding = {};
  bool count_padding = false;
};

// y[n,t,c] = mean over k of x[n, t*stride + k - front, c]: one sum in ascending order of k, then one
// division. It is average_pool2d of an image one row high, with its gradient.
// x is [batch,length,channels], f32 or f64, unlabelled or "BTC"; y keeps its labels. Error(usage) for wrong ranks,
// labels or types, and for a window that does not fit or could lie outside of the sequence.
Tensor average_pool1d(const Tensor& x, int64_t size, const AveragePool1dOptions& options = {},
                      Place place = Place::here());

// Average pooling with one window, the whole sequence: y is [batch,1,channels].
Tensor global_average_pool1d(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_AVERAGE_POOL1D_H
