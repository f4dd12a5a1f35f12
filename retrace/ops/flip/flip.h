#ifndef RETRACE_OPS_FLIP_H
#define RETRACE_OPS_FLIP_H
// Elements of an axis in another order.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// The elements of one axis at the places of `index`, i32[n]: element i of the result is element index[i] of x along
// that axis; an index may stand any number of times. Any type; labels stay. An index outside of the axis is an error as
// in gather_rows. Gradient: the sum of dy over the occurrences of an element, in the order of scatter_rows.
Tensor take(const Tensor& x, const Axes& axis, const Tensor& index, Place place = Place::here());

// x with the elements of these axes in reverse order; none named: of all axes. Any type; bits are copied, labels stay.
// Gradient: dy in reverse. Error(usage) for an axis or a label that x lacks.
Tensor flip(const Tensor& x, const Axes& axes = {}, Place place = Place::here());

// x with the elements of one axis moved by `shift` places towards its end; what leaves it comes in again at the other
// side. Any type; bits are copied, labels stay. Gradient: dy moved back. Error(usage) as of flip.
Tensor roll(const Tensor& x, const Axes& axis, int64_t shift, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_FLIP_H
