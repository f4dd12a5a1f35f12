#ifndef RETRACE_OPS_SOFTPLUS_H
#define RETRACE_OPS_SOFTPLUS_H
// A smooth ReLU.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = log(1 + e^x), at most 1 unit in the last place off (docs/numerics.md 4), without overflow; +0 where the true
// value is below 2^-126. f32 and f64. Gradient: dy * sigmoid(x).
Tensor softplus(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SOFTPLUS_H
