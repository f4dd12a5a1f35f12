#ifndef RETRACE_OPS_REMAINDER_H
#define RETRACE_OPS_REMAINDER_H
// Remainder of a division.

#include "retrace/ops/operators.h"

namespace retrace {

// z = x - floor(x / y) * y, rounded once, element by element, with broadcasting: between 0 and y, with the sign of y,
// also where it is 0 (numpy.remainder; y itself where only rounding makes it so). NaN where y is 0 or x is infinite; an
// infinite y gives x, or y where the signs differ. Integers: exact; Error(usage) where y is 0. y is a number or a
// tensor of the type of x, which is f32, f64, i32 or u8; Error(usage) otherwise. Gradients: dz; -(dz * round((x - z) /
// y)).
Tensor remainder(const Tensor& x, const Operand& y, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_REMAINDER_H
