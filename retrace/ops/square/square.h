#ifndef RETRACE_OPS_SQUARE_H
#define RETRACE_OPS_SQUARE_H
// Square.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = x * x, element by element; one rounding. Integers wrap. Gradient: dy * (2 x).
Tensor square(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SQUARE_H
