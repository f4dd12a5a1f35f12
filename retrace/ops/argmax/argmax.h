#ifndef RETRACE_OPS_ARGMAX_H
#define RETRACE_OPS_ARGMAX_H
// Index of the maximum.

#include "retrace/ops/sum/sum.h"

namespace retrace {

// y = index of the element that max() takes (retrace/ops/max/max.h), over axes (none named: all of them). The result is
// i32: the row-major index over the reduced axes, so along one axis it is the index on that axis. Any type;
// Error(usage) for a reduction of no elements. No gradient: an index is a step function.
Tensor argmax(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

// The same of the element that min() takes.
Tensor argmin(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ARGMAX_H
