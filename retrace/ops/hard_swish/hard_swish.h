#ifndef RETRACE_OPS_HARD_SWISH_H
#define RETRACE_OPS_HARD_SWISH_H
// Swish of straight lines and a parabola.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = x * hard_sigmoid(x): NaN at -inf. f32 and f64. Gradient: 0 where x <= -3, dy where x >= 3, else dy * ((2 x + 3) /
// 6).
Tensor hard_swish(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_HARD_SWISH_H
