#pragma once
// y = x * x; one rounding. Integers wrap. Gradient: dy * (2 x).

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor square(const Tensor& x, Place place = Place::here());

}  // namespace retrace
