#ifndef RETRACE_OPS_CLIPPED_RELU_H
#define RETRACE_OPS_CLIPPED_RELU_H
// ReLU with a ceiling.

#include "retrace/ops/operators.h"

namespace retrace {

// y = min(max(x, 0), ceiling) in the select forms of docs/numerics.md 8: keeps NaN and -0 of x. x is f32 or f64. The
// ceiling is one number (an input of the trace, so it may change from call to call; an integer is a constant) or a
// tensor of rank 0 and of the type of x; Error(usage) otherwise. Gradients: dy where 0 < x <= ceiling, else 0; to the
// ceiling the sum of dy where x > ceiling.
Tensor clipped_relu(const Tensor& x, const Operand& ceiling, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CLIPPED_RELU_H
