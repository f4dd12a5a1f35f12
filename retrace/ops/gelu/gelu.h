#ifndef RETRACE_OPS_GELU_H
#define RETRACE_OPS_GELU_H
// Gaussian error linear unit.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = x * p, p = 0.5 * (1 + erf(x / sqrt(2))): NaN at -inf. f32 and f64. Gradient: dy * (p + x * (e^(-0.5 * x * x) /
// sqrt(2 pi))).
Tensor gelu(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_GELU_H
