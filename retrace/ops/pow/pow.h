#ifndef RETRACE_OPS_POW_H
#define RETRACE_OPS_POW_H
// Power.

#include "retrace/ops/operators.h"

namespace retrace {

// z = x^y, element by element, with broadcasting: at most 2 units in the last place off (docs/numerics.md 4). Special
// values are those of C: x^0 = 1^y = 1 also for NaN; a negative x needs a whole y, else NaN. x is f32 or f64; y is a
// number or a tensor of the type of x; Error(usage) otherwise. Gradients: dz * (y * x^(y - 1)), 0 where y is 0; dz * (z
// * log x), 0 where z or x is 0.
Tensor pow(const Tensor& x, const Operand& y, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_POW_H
