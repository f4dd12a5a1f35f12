#ifndef RETRACE_OPS_CLAMP_H
#define RETRACE_OPS_CLAMP_H
// Numbers held between limits.

#include "retrace/ops/operators.h"

namespace retrace {

// y = minimum(maximum(x, low), high), element by element, with broadcasting: x within the limits, else the one that it
// is beyond; high where low > high; NaN where one of them is. A limit is a number or a tensor of the type of x, which
// may be any; Error(usage) otherwise. Gradients: dy to x where low <= x <= high, else to the limit that was taken.
Tensor clamp(const Tensor& x, const Operand& low, const Operand& high, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CLAMP_H
