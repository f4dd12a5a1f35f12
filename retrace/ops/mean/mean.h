#ifndef RETRACE_OPS_MEAN_H
#define RETRACE_OPS_MEAN_H
// Mean.

#include "retrace/ops/sum/sum.h"

namespace retrace {

// y = sum(x) / n over axes (none named: all of them), n the number of reduced elements. The sum has the order of
// retrace/ops/sum/sum.h and is then divided, so 0 elements give NaN. f32 and f64. Gradient: dy / n, broadcast.
Tensor mean(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MEAN_H
