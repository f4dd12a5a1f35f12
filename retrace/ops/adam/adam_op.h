#pragma once
// One step of Adam on one tensor.

#include "retrace/tensor/tensor.h"

namespace retrace {

// The numbers of a step, each of rank 0 and of the weights' type.
struct AdamNumbers {
  Tensor rate;                       // learn rate / (1 - b1^t)
  Tensor root;                       // sqrt(1 - b2^t)
  Tensor decay, rest;                // b1, 1 - b1
  Tensor square_decay, square_rest;  // b2, 1 - b2
  Tensor epsilon;
};

// The new values: weights, and the running means of the gradient and of its square.
struct AdamStep {
  Tensor weights, mean, mean_square;
};

// One step of Adam (Kingma & Ba 2015). Each operation rounds once, in this order:
//   m = b1 * mean + (1 - b1) * g;          new mean        = |m| < 2^-126 ? +0 : m
//   s = b2 * mean_square + (1 - b2) * g²;  new mean_square = |s| < 2^-126 ? +0 : s
//   new weights = weights - (rate * new mean) / (sqrt(new mean_square) / root + epsilon)
// b * m and (1 - b) * g are rounded, then added. Bias correction is the caller's: rate has been divided by 1 - b1^t,
// and root = sqrt(1 - b2^t), so epsilon stands outside of the correction. weights, gradient, mean and mean_square have
// one shape and one type, f32 or f64; Error(usage) otherwise. No gradient: an update is no part of what is
// differentiated. For trees of parameters use adam_update (retrace/optim/solver.h).
AdamStep adam(const Tensor& weights, const Tensor& gradient, const Tensor& mean, const Tensor& mean_square,
              const AdamNumbers& numbers, Place place = Place::here());

}  // namespace retrace
