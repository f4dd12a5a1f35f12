#pragma once
// y = a - b, element by element, with broadcasting; one rounding. Gradients: dy and -dy.
// Integers wrap.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor subtract(const Tensor& a, const Tensor& b, Place place = Place::here());

}  // namespace retrace
