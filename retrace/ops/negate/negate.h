#ifndef RETRACE_OPS_NEGATE_H
#define RETRACE_OPS_NEGATE_H
// Negation.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = -x, element by element: changes the sign bit only (of NaN too). Integers wrap. Gradient: -dy.
Tensor negate(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_NEGATE_H
