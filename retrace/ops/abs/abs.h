#ifndef RETRACE_OPS_ABS_H
#define RETRACE_OPS_ABS_H
// Absolute value.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = |x|, element by element: clears the sign bit, also that of NaN. Any type; integers wrap: |-2^31| = -2^31.
// Gradient: dy where x > 0, -dy where x < 0, else 0 (at 0 and NaN).
Tensor abs(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ABS_H
