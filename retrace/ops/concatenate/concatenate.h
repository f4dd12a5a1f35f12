#pragma once
// Joins tensors.

#include "retrace/tensor/tensor.h"

namespace retrace {

// The tensors one after another along an axis (negative: from the end); bits are copied. All other sizes, types and
// labels agree. Gradients: the slices of dy. Throws Error(usage) for an empty list and an axis that does not exist, and
// names the first tensor that does not fit.
Tensor concatenate(std::span<const Tensor> tensors, int axis, Place place = Place::here());
inline Tensor concatenate(std::initializer_list<Tensor> tensors, int axis, Place place = Place::here()) {
  return concatenate(std::span(tensors.begin(), tensors.size()), axis, place);
}

}  // namespace retrace
