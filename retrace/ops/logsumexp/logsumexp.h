#ifndef RETRACE_OPS_LOGSUMEXP_H
#define RETRACE_OPS_LOGSUMEXP_H
// Logarithm of a sum of exponentials, and of softmax.

#include "retrace/ops/sum/sum.h"

namespace retrace {

// y = m + log(sum(exp(x - m))) over axes, m = max(x) where that is finite and else 0; none named: over all axes.
// Nothing overflows: -inf where all of x is, inf where one is. Order: that of sum. f32 and f64; Error(usage) otherwise,
// and as max for no elements. Gradient: dy * exp(x - y), the softmax of x; 0 where y is -inf.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {},
                 Place place = Place::here());

// The logarithm of softmax: y = (x - m) - log(sum(exp(x - m))) along one axis (none named: the axis labelled C, else
// the last), m the maximum, each op with its roundings; all NaN where m is infinite. Gradient: that of these ops, dy -
// exp(x - m) * (sum(dy) / sum(exp(x - m))). f32 and f64. Error(usage) for rank 0, an axis that does not exist, and
// other types.
Tensor log_softmax(const Tensor& x, const Axes& axis = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_LOGSUMEXP_H
