#ifndef RETRACE_OPS_UNFOLD_H
#define RETRACE_OPS_UNFOLD_H
// Windows that move along an axis.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of unfold: how far the window moves, and the distance of its elements.
struct UnfoldOptions {
  int64_t step = 1;
  int64_t dilation = 1;
};

// y[.., i, .., k] = x[.., i * step + k * dilation, ..]: along the axis the windows of `size` elements that lie inside
// of it, whose elements are a new last axis, labelled U if x has labels (PyTorch: Tensor.unfold).
//
//   unfold(Tensor::arange(5), 0, 3)     // {0, 1, 2}, {1, 2, 3}, {2, 3, 4}
//
// Elements are copied; any type. Gradient: dy of all windows that an element is in, added in ascending order of k, or,
// where there are fewer windows than elements of a window, of i. Error(usage) for an axis or a label that x lacks, for
// a size, step or dilation below 1, and for a window that is longer than the axis.
Tensor unfold(const Tensor& x, const Axes& axis, int64_t size, const UnfoldOptions& options = {},
              Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_UNFOLD_H
