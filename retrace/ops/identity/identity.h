#pragma once
// The same value. identity passes gradients, stop_gradient cuts them: to the loss its result is a constant.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor identity(const Tensor& x, Place place = Place::here());
Tensor stop_gradient(const Tensor& x, Place place = Place::here());

}  // namespace retrace
