#pragma once
// y = square root of x, correctly rounded; NaN below zero, sqrt(-0) = -0. Gradient: dy / (2 y).

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor sqrt(const Tensor& x, Place place = Place::here());

}  // namespace retrace
