#ifndef RETRACE_OPS_ISFINITE_H
#define RETRACE_OPS_ISFINITE_H
// What kind of numbers a tensor has. x is f32 or f64, the result bool. No gradient: the results are step functions.

#include "retrace/tensor/tensor.h"

namespace retrace {

// True where x is neither infinite nor NaN.
Tensor isfinite(const Tensor& x, Place place = Place::here());

// True where x is +inf or -inf.
Tensor isinf(const Tensor& x, Place place = Place::here());

// True where x is NaN.
Tensor isnan(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ISFINITE_H
