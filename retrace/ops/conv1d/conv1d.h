#ifndef RETRACE_OPS_CONV1D_H
#define RETRACE_OPS_CONV1D_H
// Convolution of sequences.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of conv1d: stride and dilation of the window, padding of the sequence, groups of channels.
struct Conv1dOptions {
  int64_t stride = 1;
  EndPadding padding = {};
  int64_t dilation = 1;
  int64_t groups = 1;
};

// Convolution of sequences (cross-correlation: the kernel is not flipped):
//   y[n,t,o] = sum over c, k of x[n, t*stride + k*dilation - front, c] * weights[k,c,o]
// It is conv2d of an image one row high: each output is one sum in the fixed order of docs/numerics.md 2, and elements
// outside of the sequence are absent. `causal` padding is (size - 1) * dilation elements in front. x is
// [batch,length,channels], f32 or f64, unlabelled or "BTC"; y keeps its labels. weights are [size,c/groups,o]; filter o
// sees the channels of its group. Gradients: those of conv2d. Error(usage) for wrong ranks, labels, types or channels,
// and for a window that is longer than the padded sequence.
Tensor conv1d(const Tensor& x, const Tensor& weights, const Conv1dOptions& options = {}, Place place = Place::here());

// The same plus a bias: [o] or one number, added after the sum by an add of its own.
Tensor conv1d(const Tensor& x, const Tensor& weights, const Tensor& bias, const Conv1dOptions& options = {},
              Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CONV1D_H
