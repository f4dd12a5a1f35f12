#ifndef RETRACE_OPS_HARD_TANH_H
#define RETRACE_OPS_HARD_TANH_H
// Tanh of three straight lines.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = min(max(x, -1), 1), by maximum and minimum. f32 and f64. Gradient: dy where -1 < x < 1, else 0.
Tensor hard_tanh(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_HARD_TANH_H
