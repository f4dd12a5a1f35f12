#pragma once
// The tensors one after another along an axis (negative: from the end); bits are copied. All other sizes, types and
// labels agree. Gradients: the slices of dy. Throws Error(usage) that names the first tensor that does not fit.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor concatenate(std::span<const Tensor> tensors, int axis, Place place = Place::here());
inline Tensor concatenate(std::initializer_list<Tensor> tensors, int axis, Place place = Place::here()) {
  return concatenate(std::span(tensors.begin(), tensors.size()), axis, place);
}

}  // namespace retrace
