#ifndef RETRACE_OPS_LOG1P_H
#define RETRACE_OPS_LOG1P_H
// Natural logarithm of one plus a number.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = log(1 + x), at most 1 unit in the last place off, also near 0 (docs/numerics.md 4); -inf at -1, NaN below. f32
// and f64. Gradient: dy / (1 + x).
Tensor log1p(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_LOG1P_H
