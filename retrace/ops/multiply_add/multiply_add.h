#pragma once
// y = a * b + c, element by element, with broadcasting; rounded once, after the addition (fused). f32 and f64.
// Gradients: dy * b, dy * a and dy.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor multiply_add(const Tensor& a, const Tensor& b, const Tensor& c, Place place = Place::here());

}  // namespace retrace
