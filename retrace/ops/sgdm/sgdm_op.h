#pragma once
// One step of gradient descent with momentum on one tensor.

#include "retrace/tensor/tensor.h"

namespace retrace {

// The new values.
struct SgdmStep {
  Tensor weights, velocity;
};

// One step of gradient descent with momentum; the learning rate is inside of the velocity. Each operation rounds once,
// in this order:
//   a = momentum * velocity;  b = rate * gradient;  v = a - b;  new velocity = |v| < 2^-126 ? +0 : v
//   new weights = weights + new velocity
// weights, gradient and velocity have one shape and one type, f32 or f64; rate and momentum are of rank 0; Error(usage)
// otherwise. No gradient: an update is no part of what is differentiated. For trees of parameters use sgdm_update
// (retrace/optim/solver.h).
SgdmStep sgdm(const Tensor& weights, const Tensor& gradient, const Tensor& velocity, const Tensor& rate,
              const Tensor& momentum, Place place = Place::here());

}  // namespace retrace
