#pragma once
// Axis i of y is axis permutation[i] of x; elements are copied. An empty permutation swaps the last two axes. Labels
// move with their axes; a result whose labels would leave the canonical order B T S C U is unlabelled. Gradient:
// transposed back. Throws Error(usage) unless each axis stands once.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor transpose(const Tensor& x, Shape permutation = {}, Place place = Place::here());

}  // namespace retrace
