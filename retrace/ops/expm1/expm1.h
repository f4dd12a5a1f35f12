#ifndef RETRACE_OPS_EXPM1_H
#define RETRACE_OPS_EXPM1_H
// Exponential function minus one.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = e^x - 1, at most 1 unit in the last place off, also near 0 (docs/numerics.md 4). f32 and f64. Gradient: dy * e^x.
Tensor expm1(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_EXPM1_H
