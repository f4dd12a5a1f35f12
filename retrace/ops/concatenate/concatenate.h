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

}  // namespace retrace

#endif  // RETRACE_OPS_CONCATENATE_H
