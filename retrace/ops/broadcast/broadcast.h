#ifndef RETRACE_OPS_BROADCAST_H
#define RETRACE_OPS_BROADCAST_H
// Broadcasting to a shape.

#include "retrace/tensor/tensor.h"

namespace retrace {

// x stretched to a shape: axes are aligned from the last; missing leading axes and axes of size 1 repeat their
// elements. Bits are copied. Any type. The result has the labels that are given (canonical order), "" for none.
// Gradient: the sum of dy over the stretched axes. Throws Error(usage) if a size of x is neither 1 nor that of the
// shape.
Tensor broadcast(const Tensor& x, const Shape& shape, std::string_view labels = "", Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_BROADCAST_H
