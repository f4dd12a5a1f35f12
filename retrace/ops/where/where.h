#pragma once
// y = a where condition is true, else b, element by element, with broadcasting; bits are copied. condition is bool, a
// and b have one type. Gradients: dy where the element was taken, else 0; none for the condition.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, Place place = Place::here());

}  // namespace retrace
