#ifndef RETRACE_OPS_ATAN2_H
#define RETRACE_OPS_ATAN2_H
// Arc tangent, of a number and of a point.

#include "retrace/ops/operators.h"

namespace retrace {

// z = the angle in [-pi, pi] of the point (x, y) from the axis of x, element by element, with broadcasting: at most 1.5
// units in the last place off (docs/numerics/elementary.md 10). Signs of zeros and infinities count as in C. y is f32
// or f64, x a number or a tensor of its type; Error(usage) otherwise. Gradients: dz * (x / s) and -(dz * (y / s)) with
// s = x * x + y * y, 0 where s is 0.
Tensor atan2(const Tensor& y, const Operand& x, Place place = Place::here());

// The angle in [-pi/2, pi/2] whose tangent is x: atan2(x, 1).
Tensor atan(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ATAN2_H
