#ifndef RETRACE_OPS_SLICE_H
#define RETRACE_OPS_SLICE_H
// Parts of a tensor, and a tensor as part of zeros.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of slice. Lists may be shorter than the rank: later axes are taken whole.
struct SliceOptions {
  Shape begin = {};
  Shape end = {};   // empty: the end of each axis
  Shape step = {};  // empty: 1
};

// Elements begin, begin + step, ... before end of each axis; the size is (end - begin) / step, rounded up. Negative
// begins and ends count from the end of their axis. Elements are copied; any type. Labels stay; where the first axis
// changes, the result no longer knows which samples of the mini-batch it holds. Gradient: pad. Throws Error(usage) for
// a range outside of its axis or a step below 1.
Tensor slice(const Tensor& x, const SliceOptions& options, Place place = Place::here());

// A part of one axis: elements begin, begin + step, ... before end. Negative begins and ends count from the end.
struct AxisRange {
  int64_t begin = 0;
  int64_t end = INT64_MAX;  // as it is: the end of the axis
  int64_t step = 1;
};

// The same along one axis, which is named by index or label; the others are taken whole.
//
//   slice(x, "T", {0, 5});  slice(x, -1, {.begin = -3});  slice(x, 0, {.step = 2})
//
// A range that is not inside the axis is an error: it is never shortened.
Tensor slice(const Tensor& x, const Axes& axis, const AxisRange& range, Place place = Place::here());

// The element `index` of an axis, without that axis and its label; a negative index counts from the end. x[i] is
// select(x, 0, i). Gradient: pad. Error(usage) for an index outside of the axis.
Tensor select(const Tensor& x, const Axes& axis, int64_t index, Place place = Place::here());

// Options of pad, as those of slice.
struct PadOptions {
  Shape begin = {};
  Shape step = {};
};

// The reverse of slice: zeros of `shape`, with x at begin, begin + step, ... of each axis. Gradient: slice. Throws
// Error(usage) if x does not fit.
Tensor pad(const Tensor& x, const Shape& shape, const PadOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SLICE_H
