#ifndef RETRACE_OPS_GELU_TANH_H
#define RETRACE_OPS_GELU_TANH_H
// Gaussian error linear unit, approximated by tanh.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = 0.5 * x * (1 + tanh(u)) = x * sigmoid(2 u), u = sqrt(2 / pi) * (x + 0.044715 * x^3), computed in the second form:
// NaN at -inf. f32 and f64. Gradient: dy * (s + z * ((s * (1 - s)) * w)), s = sigmoid(2 u), z = x within -16 and 16, w
// = 2 sqrt(2 / pi) * (1 + 3 * 0.044715 * z^2).
Tensor gelu_tanh(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_GELU_TANH_H
