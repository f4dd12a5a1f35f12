#ifndef RETRACE_OPS_TANH_H
#define RETRACE_OPS_TANH_H
// Hyperbolic tangent.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = (e^x - e^-x) / (e^x + e^-x), at most 1 unit in the last place off (docs/numerics.md 4). f32 and f64. Gradient: dy
// * (1 - y * y).
Tensor tanh(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_TANH_H
