#ifndef RETRACE_OPS_MULTIPLY_ADD_H
#define RETRACE_OPS_MULTIPLY_ADD_H
// Fused multiplication and addition.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = a * b + c, element by element, with broadcasting; rounded once, after the addition (a fused multiply-add). f32
// and f64. Gradients: dy * b, dy * a and dy.
Tensor multiply_add(const Tensor& a, const Tensor& b, const Tensor& c, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MULTIPLY_ADD_H
