#ifndef RETRACE_OPS_SQRT_H
#define RETRACE_OPS_SQRT_H
// Square root.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = square root of x, correctly rounded; NaN below zero, sqrt(-0) = -0. f32 and f64. Gradient: dy / (2 y).
Tensor sqrt(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SQRT_H
