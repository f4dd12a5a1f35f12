#pragma once
// y = |x|: clears the sign bit (of NaN too). Integers wrap: |-2^31| = -2^31. Gradient: dy where x > 0, -dy where
// x < 0, else 0 (at 0 and NaN).

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor abs(const Tensor& x, Place place = Place::here());

}  // namespace retrace
