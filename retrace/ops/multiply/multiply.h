#pragma once
// y = a * b, element by element, with broadcasting; one rounding. Gradients: dy * b and dy * a.
// Integers wrap.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor multiply(const Tensor& a, const Tensor& b, Place place = Place::here());

}  // namespace retrace
