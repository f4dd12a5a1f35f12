#pragma once
// y = -x: changes the sign bit only (of NaN too). Integers wrap. Gradient: -dy.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor negate(const Tensor& x, Place place = Place::here());

}  // namespace retrace
