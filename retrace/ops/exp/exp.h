#pragma once
// y = e^x, at most 1 unit in the last place off (docs/numerics.md 4); +0 where the true value is below 2^-126.
// Gradient: dy * y.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor exp(const Tensor& x, Place place = Place::here());

}  // namespace retrace
