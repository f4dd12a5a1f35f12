#pragma once
// y = 0 > x ? 0 : x: keeps NaN and -0. Gradient: dy where x > 0, else 0 (0 at 0).

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor relu(const Tensor& x, Place place = Place::here());

}  // namespace retrace
