#pragma once
// y = e^x - 1, at most 1 unit in the last place off, also near 0 (docs/numerics.md 4). Gradient: dy * e^x.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor expm1(const Tensor& x, Place place = Place::here());

}  // namespace retrace
