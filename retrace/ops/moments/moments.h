#ifndef RETRACE_OPS_MOMENTS_H
#define RETRACE_OPS_MOMENTS_H
// Mean and sum of squared deviations together.

#include "retrace/ops/sum/sum.h"

namespace retrace {

// What moments() returns: mean, and m2 = sum of (x - mean)^2.
struct Moments {
  Tensor mean, m2;
};

// mean and m2 = sum of (x - mean)^2 over axes (none named: all), both with the shape of sum(x, axes, options). variance
// = m2 / n. Each strip or block makes its own pair; pairs are merged along the tree by the formula of Chan, Golub and
// LeVeque (1979), docs/numerics.md 3, so m2 suffers no cancellation. f32 and f64; 0 elements give mean NaN and m2 0.
// Gradient: (x - mean) * (2 dm2) + dmean / n.
Moments moments(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MOMENTS_H
