#ifndef RETRACE_OPS_ADD_H
#define RETRACE_OPS_ADD_H
// Addition.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = a + b, element by element, with broadcasting; one rounding. Integers wrap. a and b have one type; Error(usage) if
// types differ or shapes do not broadcast. Gradients: dy to both, summed over the axes along which they were stretched.
Tensor add(const Tensor& a, const Tensor& b, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ADD_H
