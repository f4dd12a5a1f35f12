#ifndef RETRACE_OPS_HARD_SIGMOID_H
#define RETRACE_OPS_HARD_SIGMOID_H
// Sigmoid of three straight lines.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = min(max(x + 3, 0), 6) / 6, by maximum and minimum. f32 and f64. Gradient: dy / 6 where -3 < x < 3, else 0.
Tensor hard_sigmoid(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_HARD_SIGMOID_H
