#ifndef RETRACE_OPS_SIGMOID_H
#define RETRACE_OPS_SIGMOID_H
// Logistic function.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = 1 / (1 + e^-x), at most 1 unit in the last place off (docs/numerics.md 4); +0 where the true value is below
// 2^-126. f32 and f64. Gradient: dy * (y * (1 - y)).
Tensor sigmoid(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SIGMOID_H
