#pragma once
// One step of gradient descent with momentum on one tensor, the rate inside of the velocity. Each operation rounds
// once, in this order:
//   a = momentum * velocity;  b = rate * gradient;  v = a - b;  new velocity = |v| < 2^-126 ? +0 : v
//   new weights = weights + new velocity
// weights, gradient and velocity have one shape and one type, f32 or f64; rate and momentum are rank 0. No gradient: it
// cuts, as updates stand outside of what is differentiated. For trees use sgdm_update (retrace/optim/sgdm.h).

#include "retrace/tensor/tensor.h"

namespace retrace {

struct SgdmStep {
  Tensor weights, velocity;
};

SgdmStep sgdm(const Tensor& weights, const Tensor& gradient, const Tensor& velocity, const Tensor& rate,
              const Tensor& momentum, Place place = Place::here());

}  // namespace retrace
