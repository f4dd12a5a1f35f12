#ifndef RETRACE_OPS_COSH_H
#define RETRACE_OPS_COSH_H
// Hyperbolic cosine.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = (e^x + e^-x) / 2, at most 1 unit in the last place off (docs/numerics/elementary.md 9). f32 and f64. Gradient: dy
// * sinh(x).
Tensor cosh(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_COSH_H
