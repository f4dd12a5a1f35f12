#ifndef RETRACE_OPS_SILU_H
#define RETRACE_OPS_SILU_H
// Sigmoid linear unit, also called swish.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = x * sigmoid(x): NaN at -inf. f32 and f64. Gradient: dy * (s * (1 + x * (1 - s))), s = sigmoid(x).
Tensor silu(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SILU_H
