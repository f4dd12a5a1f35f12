#pragma once
// y = natural logarithm of x, at most 1 unit in the last place off (docs/numerics.md 4); -inf at 0, NaN below.
// Gradient: dy / x.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor log(const Tensor& x, Place place = Place::here());

}  // namespace retrace
