#ifndef RETRACE_OPS_SIGN_H
#define RETRACE_OPS_SIGN_H
// Sign.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = 1 where x > 0, -1 where x < 0, else x: keeps NaN and the sign of zero. f32, f64 and i32. No gradient: it is a
// step.
Tensor sign(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SIGN_H
