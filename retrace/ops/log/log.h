#ifndef RETRACE_OPS_LOG_H
#define RETRACE_OPS_LOG_H
// Natural logarithm.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = natural logarithm of x, at most 1 unit in the last place off (docs/numerics.md 4); -inf at 0, NaN below. f32 and
// f64. Gradient: dy / x.
Tensor log(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_LOG_H
