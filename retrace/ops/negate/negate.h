#pragma once
// Negation.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = -x, element by element: changes the sign bit only (of NaN too). Integers wrap. Gradient: -dy.
Tensor negate(const Tensor& x, Place place = Place::here());

}  // namespace retrace
