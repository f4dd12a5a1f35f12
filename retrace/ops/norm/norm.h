#ifndef RETRACE_OPS_NORM_H
#define RETRACE_OPS_NORM_H
// Length of vectors.

#include "retrace/ops/sum/sum.h"

namespace retrace {

// y = sqrt(sum(x * x)), the Euclidean norm over axes; none named: over all of them. Order: that of sum. A square that
// overflows makes it infinite, one below 2^-149 counts as 0. f32 and f64; axes and errors as of sum. Gradient: those of
// these ops, dy * x / y; 0 where y is 0 (PyTorch does so).
Tensor norm(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_NORM_H
