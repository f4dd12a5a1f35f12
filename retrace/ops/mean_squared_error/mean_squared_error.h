#ifndef RETRACE_OPS_MEAN_SQUARED_ERROR_H
#define RETRACE_OPS_MEAN_SQUARED_ERROR_H
// Two losses that share a name in the field. Both are one unlabelled number; y and t have the same shape and type, f32
// or f64. Roundings: difference, square, sum by the row rule, one division.

#include "retrace/tensor/tensor.h"

namespace retrace {

// loss = (1/(2N)) sum of (y - t)^2, N the number of observations: the size of the B axis; unlabelled, of the first of
// two or more axes; else 1. Gradients: (dloss / N) * (y - t) for y, its negative for t.
Tensor half_mean_squared_error(const Tensor& y, const Tensor& t, Place place = Place::here());

// loss = (1/M) sum of (y - t)^2 over all M elements, without the factor one half. Gradients: (2 dloss / M) * (y - t)
// for y, its negative for t.
Tensor mean_squared_error(const Tensor& y, const Tensor& t, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MEAN_SQUARED_ERROR_H
