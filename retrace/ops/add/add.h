#pragma once
// y = a + b, element by element, with broadcasting; one rounding. Gradient: the cotangent to both.
// Integers wrap.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor add(const Tensor& a, const Tensor& b, Place place = Place::here());

}  // namespace retrace
