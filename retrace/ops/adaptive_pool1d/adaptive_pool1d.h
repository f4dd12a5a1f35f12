#ifndef RETRACE_OPS_ADAPTIVE_POOL1D_H
#define RETRACE_OPS_ADAPTIVE_POOL1D_H
// Pooling of sequences to a given length.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y[n,i,c] = the mean of x over the positions floor(i * length / size) .. ceil((i + 1) * length / size) - 1 (PyTorch:
// adaptive_avg_pool1d): adaptive_average_pool2d of an image one row high, with its gradient. x is [batch,length,
// channels], f32 or f64, unlabelled or "BTC"; y keeps its labels. Error(usage) for wrong ranks, types or labels, a
// sequence without positions, and sizes that are not 1 to 4096.
Tensor adaptive_average_pool1d(const Tensor& x, int64_t size, Place place = Place::here());

// The maxima of the same windows (PyTorch: adaptive_max_pool1d): adaptive_max_pool2d of an image one row high, with its
// gradient. Arguments and errors as above.
Tensor adaptive_max_pool1d(const Tensor& x, int64_t size, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ADAPTIVE_POOL1D_H
