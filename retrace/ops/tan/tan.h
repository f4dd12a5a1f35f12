#ifndef RETRACE_OPS_TAN_H
#define RETRACE_OPS_TAN_H
// Tangent.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = tangent of x, which is in radians, for every finite x: at most 2.5 units in the last place off
// (docs/numerics/elementary.md 9); NaN where x is infinite. f32 and f64. Gradient: dy * (1 + y * y).
Tensor tan(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_TAN_H
