#ifndef RETRACE_OPS_IDENTITY_H
#define RETRACE_OPS_IDENTITY_H
// The same value, with or without its gradient.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = x; no copy. Any type. Gradient: dy.
Tensor identity(const Tensor& x, Place place = Place::here());

// y = x; no copy. Any type. No gradient passes: y counts as a constant (PyTorch: detach).
Tensor stop_gradient(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_IDENTITY_H
