#ifndef RETRACE_OPS_SIN_H
#define RETRACE_OPS_SIN_H
// Sine.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = sine of x, which is in radians, for every finite x: at most 1 unit in the last place off, 2 for |x| > 2^20
// (docs/numerics.md 4); NaN where x is infinite. f32 and f64. Gradient: dy * cos(x).
Tensor sin(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SIN_H
