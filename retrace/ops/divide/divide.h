#pragma once
// y = a / b, element by element, with broadcasting; one rounding (never a product with 1 / b). Integers truncate
// towards zero, wrap (-2^31 / -1 = -2^31), and throw Error(usage) for b = 0: when it is computed, on a CUDA device
// when values are read next, where the result is 0. Gradients: dy / b and -(dy * y) / b.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor divide(const Tensor& a, const Tensor& b, Place place = Place::here());

}  // namespace retrace
