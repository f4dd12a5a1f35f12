#ifndef RETRACE_OPS_VARIANCE_H
#define RETRACE_OPS_VARIANCE_H
// Variance.

#include "retrace/ops/sum/sum.h"

namespace retrace {

// y = (sum of (x - mean)^2) / n over axes (none named: all), the biased variance: m2 of moments() divided by n. f32 and
// f64; 0 elements give NaN. Gradient: (x - mean) * (2 * (dy / n)).
Tensor variance(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_VARIANCE_H
