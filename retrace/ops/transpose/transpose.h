#ifndef RETRACE_OPS_TRANSPOSE_H
#define RETRACE_OPS_TRANSPOSE_H
// Permutation of axes.

#include "retrace/tensor/tensor.h"

namespace retrace {

// Axis i of y is axis permutation[i] of x; elements are copied; any type. An empty permutation swaps the last two axes.
// Labels move with their axes; a result whose labels would leave the canonical order B T S C U is unlabelled. Gradient:
// transposed back. Throws Error(usage) unless the permutation names each axis once.
Tensor transpose(const Tensor& x, Shape permutation = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_TRANSPOSE_H
