#ifndef RETRACE_OPS_SOFTSIGN_H
#define RETRACE_OPS_SOFTSIGN_H
// Softsign.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = x / (1 + |x|): NaN where x is infinite. f32 and f64. Gradient: dy / ((1 + |x|) * (1 + |x|)).
Tensor softsign(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SOFTSIGN_H
