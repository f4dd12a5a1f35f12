#ifndef RETRACE_OPS_RSQRT_H
#define RETRACE_OPS_RSQRT_H
// Reciprocal square root.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = 1 / sqrt(x): two roundings, never an estimate; +inf at +0, -inf at -0, NaN below zero, +0 at +inf. f32 and f64.
// Gradient: -(dy * y) / (2 x).
Tensor rsqrt(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_RSQRT_H
