#ifndef RETRACE_OPS_BROADCAST_H
#define RETRACE_OPS_BROADCAST_H
// Broadcasting to a shape.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// x stretched to a shape: axes are aligned from the last; missing leading axes and axes of size 1 repeat their
// elements. Bits are copied. Any type. The result has the labels that are given (canonical order), "" for none.
// Gradient: the sum of dy over the stretched axes. Throws Error(usage) if a size of x is neither 1 nor that of the
// shape.
Tensor broadcast(const Tensor& x, const Shape& shape, std::string_view labels = "", Place place = Place::here());

// x so many times along each axis, one copy behind the other: of {a, b}, tile gives {a, b, a, b}. Fewer counts than
// axes are those of the last ones; more counts make axes in front, and the result has no labels. Bits are copied.
// Gradient: the sum of dy over the copies, axis by axis from the first. Error(usage) for a negative count.
Tensor tile(const Tensor& x, const Shape& counts, Place place = Place::here());

// Each element `count` times in a row along an axis: of {a, b}, it gives {a, a, b, b}. Bits are copied. Gradient:
// the sum of dy over the copies. Error(usage) for a negative count.
Tensor repeat_interleave(const Tensor& x, const Axes& axis, int64_t count, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_BROADCAST_H
