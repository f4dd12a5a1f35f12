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

// y = x - logsumexp(x) along one axis (none named: the axis labelled C, else the last), each op with its roundings: the
// logarithm of softmax, without its overflow and without log(0). f32 and f64. Gradient: that of these ops, dy -
// softmax(x) * sum(dy). Error(usage) for rank 0 or an axis that does not exist.
Tensor log_softmax(const Tensor& x, const Axes& axis = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_LOGSUMEXP_H
