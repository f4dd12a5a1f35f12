#pragma once
// mean and m2 = sum of (x - mean)^2 over axes (empty: all), both with the shape of sum(x, options). variance = m2 / n.
// Computed as pairs: each strip (block) its own, merged along the tree by the formula of docs/numerics.md 3, so m2 has
// no cancellation. 0 elements give mean NaN, m2 0. f32 and f64. Gradient: (x - mean) * (2 dm2) + dmean / n.

#include "retrace/ops/sum/sum.h"

namespace retrace {

struct Moments {
  Tensor mean, m2;
};

Moments moments(const Tensor& x, ReduceOptions options = {}, Place place = Place::here());

}  // namespace retrace
