#ifndef RETRACE_OPS_CROSS_CHANNEL_NORM_H
#define RETRACE_OPS_CROSS_CHANNEL_NORM_H
// Normalisation of each number by its neighbours in other channels.

#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of cross_channel_norm: the alpha, beta and k of its formula.
struct CrossChannelNormOptions {
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 2;
};

// Local response normalisation (Krizhevsky, Sutskever & Hinton 2012). With the `size` channels around c, those from
// c - size / 2 (rounded down) on,
//   mean = (sum of x[.., j]^2 over them, ascending) / size      channels that are not there count as zeros
//   y[.., c] = x[.., c] / (k + alpha * mean)^beta               each operation rounds once, pow as docs/numerics.md 4
// PyTorch's local_response_norm is the same with k = 1 where nothing is given. In the paper alpha multiplies the sum,
// not the mean: its alpha is alpha / size here. x is [batch,..,channels], f32 or f64, unlabelled or with C as its last
// axis, of 2 axes or more; y has its shape and labels. Gradients: those of the ops of the formula; the sum is an
// average_pool1d along the channels. Error(usage) for another rank, type or labels, x without channels, a size that is
// not 1 to 65536, alpha or beta that are negative or not finite, and a k that is not finite and above 0.
Tensor cross_channel_norm(const Tensor& x, int64_t size, const CrossChannelNormOptions& options = {},
                          Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CROSS_CHANNEL_NORM_H
