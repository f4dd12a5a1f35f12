#ifndef RETRACE_OPS_ASIN_H
#define RETRACE_OPS_ASIN_H
// Arc sine and arc cosine.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = the angle in [-pi/2, pi/2] whose sine is x: at most 1.5 units in the last place off (docs/numerics/elementary.md
// 10); NaN where |x| > 1. f32 and f64. Gradient: dy / sqrt((1 - x) * (1 + x)).
Tensor asin(const Tensor& x, Place place = Place::here());

// y = the angle in [0, pi] whose cosine is x, with everything else as for asin. Gradient: the negative of that of asin.
Tensor acos(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ASIN_H
