#ifndef RETRACE_OPS_TAKE_ALONG_AXIS_H
#define RETRACE_OPS_TAKE_ALONG_AXIS_H
// Elements of each line of a tensor by their number in the line, and the reverse.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// y[.., i, ..] = x[.., index[.., i, ..], ..] along one axis (PyTorch: gather). index is i32 with the axes of x and, but
// along that axis, its sizes. Any type; bits are copied; labels are those of x. An index outside of the axis throws
// Error(usage) with the value and its position when y is computed; on a CUDA device when values are read next, and the
// element is NaN there, or 0 for integers. Gradient: the scatter_add of dy to zeros. Error(usage) for another index.
//
//   take_along_axis(scores, -1, unsqueeze(labels, -1))   // of each row the score of its label
Tensor take_along_axis(const Tensor& x, const Axes& axis, const Tensor& index, Place place = Place::here());

// x with y[.., index[.., i, ..], ..] += source[.., i, ..] along one axis. Order: each element begins as that of x; the
// elements of the source that go to it are added one after another, by ascending i, on every device. f32, f64 and i32,
// which wraps. The source has the shape of the index, which is that of take_along_axis. An index outside of the axis
// throws as there; on a CUDA device the line of y is NaN then. Gradients: dy for x; take_along_axis of dy for the
// source. Error(usage) where types or shapes do not fit.
Tensor scatter_add(const Tensor& x, const Axes& axis, const Tensor& index, const Tensor& source,
                   Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_TAKE_ALONG_AXIS_H
