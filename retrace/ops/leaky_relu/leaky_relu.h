#ifndef RETRACE_OPS_LEAKY_RELU_H
#define RETRACE_OPS_LEAKY_RELU_H
// ReLU that is not flat below zero.

#include "retrace/ops/operators.h"

namespace retrace {

// y = x > 0 ? x : slope * x: keeps NaN. x is f32 or f64; the slope is a number or a tensor of the type of x, with
// broadcasting (one for each channel, which is learned: PReLU); Error(usage) otherwise. Gradients: x > 0 ? dy : dy *
// slope; to the slope x > 0 ? 0 : dy * x.
Tensor leaky_relu(const Tensor& x, const Operand& slope = 0.01, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_LEAKY_RELU_H
