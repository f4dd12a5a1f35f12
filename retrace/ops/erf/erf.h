#ifndef RETRACE_OPS_ERF_H
#define RETRACE_OPS_ERF_H
// Error function.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x, at most 1 unit in the last place off (docs/numerics.md
// 4). f32 and f64. Gradient: dy * (2 / sqrt(pi) * e^(-x * x)).
Tensor erf(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ERF_H
