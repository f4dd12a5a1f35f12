#pragma once
// Flushes tiny numbers of a state that is kept.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = |x| < 2^-126 ? +0 : x, for a state that is kept from step to step and decays. Without it an idle state never
// leaves the subnormal numbers and makes every step slow (docs/numerics.md 1). NaN stays. f32 and f64. No gradient: a
// state is no part of what is differentiated.
Tensor stored_state(const Tensor& x, Place place = Place::here());

}  // namespace retrace
