#ifndef RETRACE_OPS_SLICE_H
#define RETRACE_OPS_SLICE_H
// Parts of a tensor, and a tensor as part of zeros.

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
