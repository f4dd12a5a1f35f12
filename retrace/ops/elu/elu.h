#ifndef RETRACE_OPS_ELU_H
#define RETRACE_OPS_ELU_H
// Exponential linear unit.

#include "retrace/ops/operators.h"

namespace retrace {

// y = x > 0 ? x : alpha * (e^x - 1), by expm1. x is f32 or f64; alpha is a number or a tensor of the type of x, with
// broadcasting; Error(usage) otherwise. Gradients: x > 0 ? dy : dy * (alpha * e^x); to alpha x > 0 ? 0 : dy * (e^x -
// 1).
Tensor elu(const Tensor& x, const Operand& alpha = 1, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ELU_H
