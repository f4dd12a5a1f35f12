#pragma once
// slice: elements begin, begin + step, ... before end of each axis; shape (end - begin) / step rounded up. Lists may be
// shorter than the rank: later axes are taken whole. Negative begins and ends count from the end of their axis.
// pad: the reverse: zeros of `shape` with x at begin, begin + step, ...
// Elements are copied. Each is the other's gradient. Labels stay; the place of samples in a mini-batch is forgotten
// where the first axis changes. Throws Error(usage) for a range outside of its axis or a step below 1.

#include "retrace/tensor/tensor.h"

namespace retrace {

struct SliceOptions {
  Shape begin = {};
  Shape end = {};   // empty: the end of each axis
  Shape step = {};  // empty: 1
};
Tensor slice(const Tensor& x, SliceOptions options, Place place = Place::here());

struct PadOptions {
  Shape begin = {};
  Shape step = {};
};
Tensor pad(const Tensor& x, const Shape& shape, PadOptions options = {}, Place place = Place::here());

}  // namespace retrace
