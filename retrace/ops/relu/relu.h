#ifndef RETRACE_OPS_RELU_H
#define RETRACE_OPS_RELU_H
// Rectified linear unit.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = 0 > x ? 0 : x: keeps NaN and -0. f32 and f64. Gradient: dy where x > 0, else 0 (0 at 0).
Tensor relu(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_RELU_H
