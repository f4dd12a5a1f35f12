#ifndef RETRACE_OPS_EXP_H
#define RETRACE_OPS_EXP_H
// Exponential function.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = e^x, at most 1 unit in the last place off (docs/numerics.md 4); +0 where the true value is below 2^-126. f32 and
// f64. Gradient: dy * y.
Tensor exp(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_EXP_H
