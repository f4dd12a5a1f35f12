#ifndef RETRACE_OPS_LOG_SIGMOID_H
#define RETRACE_OPS_LOG_SIGMOID_H
// Logarithm of the logistic function.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = log(1 / (1 + e^-x)) = -softplus(-x), at most 1 unit in the last place off, without overflow. f32 and f64.
// Gradient: dy * sigmoid(-x).
Tensor log_sigmoid(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_LOG_SIGMOID_H
