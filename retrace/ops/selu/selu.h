#ifndef RETRACE_OPS_SELU_H
#define RETRACE_OPS_SELU_H
// Scaled exponential linear unit.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = l * (x > 0 ? x : a * (e^x - 1)), l = 1.0507009873554805, a = 1.6732632423543772 (Klambauer and others 2017). f32
// and f64. Gradient: x > 0 ? dy * l : dy * (l * a * e^x), the product l * a rounded once.
Tensor selu(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SELU_H
