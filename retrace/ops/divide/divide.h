#ifndef RETRACE_OPS_DIVIDE_H
#define RETRACE_OPS_DIVIDE_H
// Division.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = a / b, element by element, with broadcasting; one rounding (never a product with 1 / b). a and b have one type.
// Integers truncate towards zero and wrap (-2^31 / -1 = -2^31). An integer b = 0 throws Error(usage) when y is
// computed; on a CUDA device when values are read next, and the result is 0 there. Gradients: dy / b and -(dy * y) / b.
Tensor divide(const Tensor& a, const Tensor& b, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_DIVIDE_H
