#ifndef RETRACE_OPS_MULTIPLY_H
#define RETRACE_OPS_MULTIPLY_H
// Multiplication.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = a * b, element by element, with broadcasting; one rounding. Integers wrap. a and b have one type; Error(usage) if
// types differ or shapes do not broadcast. Gradients: dy * b and dy * a.
Tensor multiply(const Tensor& a, const Tensor& b, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MULTIPLY_H
