#ifndef RETRACE_OPS_SINH_H
#define RETRACE_OPS_SINH_H
// Hyperbolic sine.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = (e^x - e^-x) / 2, at most 2.2 units in the last place off (docs/numerics/elementary.md 9). f32 and f64. Gradient:
// dy * cosh(x).
Tensor sinh(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SINH_H
