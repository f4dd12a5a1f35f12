#pragma once
// One Adam step on one tensor. Each operation rounds once, in this order:
//   m = b1 * mean + (1 - b1) * g;          new mean        = |m| < 2^-126 ? +0 : m
//   s = b2 * mean_square + (1 - b2) * g²;  new mean_square = |s| < 2^-126 ? +0 : s
//   new weights = weights - (rate * new mean) / (sqrt(new mean_square) / root + epsilon)
// where the caller has divided the rate by 1 - b1^t and root = sqrt(1 - b2^t): bias correction with epsilon outside of
// it. (b * m and (1 - b) * g are rounded, then added.) weights, gradient, mean and mean_square have one shape and one
// type, f32 or f64; the numbers are rank 0. No gradient: it cuts, as updates stand outside of what is differentiated.
// For trees use adam_update (retrace/optim/adam.h).

#include "retrace/tensor/tensor.h"

namespace retrace {

struct AdamNumbers {
  Tensor rate;                       // learn rate / (1 - b1^t)
  Tensor root;                       // sqrt(1 - b2^t)
  Tensor decay, rest;                // b1, 1 - b1
  Tensor square_decay, square_rest;  // b2, 1 - b2
  Tensor epsilon;
};

struct AdamStep {
  Tensor weights, mean, mean_square;
};

AdamStep adam(const Tensor& weights, const Tensor& gradient, const Tensor& mean, const Tensor& mean_square,
              const AdamNumbers& numbers, Place place = Place::here());

}  // namespace retrace
