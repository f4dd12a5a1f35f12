#pragma once
// Two losses that share a name in the field; both unlabelled numbers, y and t of the same shape.
// half_mean_squared_error = (1/(2N)) sum of (y - t)^2 with N observations (the size of the B axis; unlabelled: of the
// first of two or more axes; else 1). mean_squared_error = (1/M) sum of (y - t)^2 with M elements, no factor one half.
// Roundings: difference, square, sum by the row rule, one division. Gradients: for y dloss / N (2 dloss / M), times the
// difference; for t its negative.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor half_mean_squared_error(const Tensor& y, const Tensor& t, Place place = Place::here());
Tensor mean_squared_error(const Tensor& y, const Tensor& t, Place place = Place::here());

}  // namespace retrace
