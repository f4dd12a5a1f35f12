#pragma once
// y = true where a < b (<=, >, >=, ==, !=), element by element, with broadcasting; the result is bool. NaN compares
// false with everything, but not_equal, which is true; -0 equals +0. Bools compare as 0 and 1. No gradient: the results
// are steps.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor less(const Tensor& a, const Tensor& b, Place place = Place::here());
Tensor less_equal(const Tensor& a, const Tensor& b, Place place = Place::here());
Tensor greater(const Tensor& a, const Tensor& b, Place place = Place::here());
Tensor greater_equal(const Tensor& a, const Tensor& b, Place place = Place::here());
Tensor equal(const Tensor& a, const Tensor& b, Place place = Place::here());
Tensor not_equal(const Tensor& a, const Tensor& b, Place place = Place::here());

}  // namespace retrace
