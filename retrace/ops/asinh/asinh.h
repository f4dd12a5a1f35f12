#ifndef RETRACE_OPS_ASINH_H
#define RETRACE_OPS_ASINH_H
// Inverse hyperbolic functions.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y with sinh(y) = x, for any x: log1p(a + a^2 / (1 + sqrt(1 + a^2))) with the sign of x, a = |x|; for a > 1e9 log(a) +
// log(2). Each operation is rounded. f32 and f64. Gradient: dy / sqrt(1 + x^2).
Tensor asinh(const Tensor& x, Place place = Place::here());

// y >= 0 with cosh(y) = x, for x >= 1, else NaN: log1p(t + sqrt(t * (t + 2))), t = x - 1; for x > 1e9 log(x) + log(2).
// Gradient: dy / sqrt((x - 1) * (x + 1)).
Tensor acosh(const Tensor& x, Place place = Place::here());

// y with tanh(y) = x, for |x| <= 1, else NaN; infinite at -1 and 1: (log1p(x) - log1p(-x)) / 2. Gradient:
// dy / ((1 - x) * (1 + x)).
Tensor atanh(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ASINH_H
