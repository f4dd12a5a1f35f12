#ifndef RETRACE_OPS_MISH_H
#define RETRACE_OPS_MISH_H
// Mish.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = x * tanh(softplus(x)): NaN at -inf. f32 and f64. Gradient: dy * (t + x * (sigmoid(x) * (1 - t * t))), t =
// tanh(softplus(x)).
Tensor mish(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MISH_H
