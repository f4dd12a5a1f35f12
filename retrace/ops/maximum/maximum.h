#ifndef RETRACE_OPS_MAXIMUM_H
#define RETRACE_OPS_MAXIMUM_H
// The larger and the smaller of two tensors.

#include "retrace/ops/operators.h"

namespace retrace {

// y = (b > a or b is NaN) ? b : a, element by element, with broadcasting: the first of equals, and a NaN before all. b
// is a number or a tensor of the type of a, which may be any; Error(usage) otherwise. Gradients: dy to the one that was
// taken, 0 to the other.
Tensor maximum(const Tensor& a, const Operand& b, Place place = Place::here());

// y = (b < a or b is NaN) ? b : a, with everything else as for maximum.
Tensor minimum(const Tensor& a, const Operand& b, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MAXIMUM_H
