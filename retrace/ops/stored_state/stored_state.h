#pragma once
// y = |x| < 2^-126 ? +0 : x: for what is kept from step to step and decays. Without it an idle moment never leaves the
// subnormal numbers and makes every step slow (docs/numerics.md 1). NaN stays. No gradient: it cuts, as states stand
// outside of what is differentiated.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor stored_state(const Tensor& x, Place place = Place::here());

}  // namespace retrace
