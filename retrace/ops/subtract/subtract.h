#ifndef RETRACE_OPS_SUBTRACT_H
#define RETRACE_OPS_SUBTRACT_H
// Subtraction.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = a - b, element by element, with broadcasting; one rounding. Integers wrap. a and b have one type; Error(usage) if
// types differ or shapes do not broadcast. Gradients: dy and -dy.
Tensor subtract(const Tensor& a, const Tensor& b, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SUBTRACT_H
