#ifndef RETRACE_OPS_CONCATENATE_H
#define RETRACE_OPS_CONCATENATE_H
// Joins tensors.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// The tensors one after another along one axis of the first; bits are copied. All other sizes, types and
// labels agree. Gradients: the slices of dy. Throws Error(usage) for an empty list and an axis that does not exist, and
// names the first tensor that does not fit.
Tensor concatenate(std::span<const Tensor> tensors, const Axes& axis, Place place = Place::here());
inline Tensor concatenate(std::initializer_list<Tensor> tensors, const Axes& axis, Place place = Place::here()) {
  return concatenate(std::span(tensors.begin(), tensors.size()), axis, place);
}

// The tensors side by side along a new axis, which is named as unsqueeze() does it: stack({a, b}) in front, stack({a,
// b}, -1) behind, stack({a, b}, "B") as a batch. Bits are copied. x[i] takes one out again. Gradients: the slices of
// dy. Error(usage) for an empty list, and for the first tensor with another type, shape or labels than tensor 0.
Tensor stack(std::span<const Tensor> tensors, const Axes& axis = 0, Place place = Place::here());
inline Tensor stack(std::initializer_list<Tensor> tensors, const Axes& axis = 0, Place place = Place::here()) {
  return stack(std::span(tensors.begin(), tensors.size()), axis, place);
}

}  // namespace retrace

#endif  // RETRACE_OPS_CONCATENATE_H
