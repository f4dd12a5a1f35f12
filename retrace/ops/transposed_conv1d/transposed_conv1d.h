#ifndef RETRACE_OPS_TRANSPOSED_CONV1D_H
#define RETRACE_OPS_TRANSPOSED_CONV1D_H
// Transposed convolution of sequences.

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of transposed_conv1d: distance of the input's elements in the output, and what is cut off its ends.
struct TransposedConv1dOptions {
  int64_t stride = 1;
  EndPadding cropping = {};
};

// The input gradient of the conv1d that has the same weights, as an operation of its own:
//   y[n, i*stride + k - front, f] += x[n,i,c] * weights[k,f,c]
// It is transposed_conv2d of an image one row high: each output is one sum in the fixed order of docs/numerics.md 2
// (channel c, then k). x is [n,length,channels], f32 or f64, unlabelled or "BTC"; y keeps its labels. weights are
// [size,filters,channels]: those of the matching convolution, which leads from `filters` back to `channels`. The output
// has stride * (length - 1) + size - cropping elements; with cropping `same` stride * length, and the surplus is cut
// off both ends, an odd one from the end; with `causal` as many, all of it cut off the end, so that y[n,t] depends on
// no x[n,i] with i * stride > t. Gradients: those of transposed_conv2d. Error(usage) for wrong ranks, labels, types or
// channels.
Tensor transposed_conv1d(const Tensor& x, const Tensor& weights, const TransposedConv1dOptions& options = {},
                         Place place = Place::here());

// The same plus a bias: [filters] or one number, added after the sum by an add of its own.
Tensor transposed_conv1d(const Tensor& x, const Tensor& weights, const Tensor& bias,
                         const TransposedConv1dOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_TRANSPOSED_CONV1D_H
