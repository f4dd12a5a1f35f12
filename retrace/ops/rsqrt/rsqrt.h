#pragma once
// y = 1 / sqrt(x): two roundings, never an estimate; +inf at +0, -inf at -0, NaN below zero, +0 at +inf.
// Gradient: -(dy * y) / (2 x).

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor rsqrt(const Tensor& x, Place place = Place::here());

}  // namespace retrace
