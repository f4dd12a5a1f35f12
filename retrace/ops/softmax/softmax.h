#ifndef RETRACE_OPS_SOFTMAX_H
#define RETRACE_OPS_SOFTMAX_H
// Softmax.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// y = exp(x - max x) / sum of exp(x - max x) along one axis (none named: the axis labelled C, else the last), in this
// sequence of roundings: the difference, exp, the sum by the row rule of docs/numerics.md 3 (whatever the axis), the
// quotient; a result below 2^-126 is +0. f32 and f64. Gradient: y (dy - sum(dy y)). Error(usage) for rank 0 or an axis
// that does not exist.
Tensor softmax(const Tensor& x, const Axes& axis = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SOFTMAX_H
