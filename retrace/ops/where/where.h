#ifndef RETRACE_OPS_WHERE_H
#define RETRACE_OPS_WHERE_H
// Choice between two tensors.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = a where condition is true, else b, element by element, with broadcasting; bits are copied. condition is bool; a
// and b have one type; Error(usage) otherwise. Gradients: dy where the element was taken, else 0; none for the
// condition.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_WHERE_H
