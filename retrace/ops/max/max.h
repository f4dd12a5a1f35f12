#ifndef RETRACE_OPS_MAX_H
#define RETRACE_OPS_MAX_H
// Maximum, and where it is.

#include "retrace/ops/sum/sum.h"

namespace retrace {

// y = largest element of x over axes (none named: all of them): the first of equal ones, and the first NaN if there is
// one. Any type; Error(usage) for a reduction of no elements. Gradient: dy goes to the one element that was taken.
Tensor max(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

// y = smallest element of x, by the rules of max: the first of equal ones, and the first NaN if there is one. Computed
// as -max(-x), of integers as n - max(n - x) with n = -1 for i32, 255 for u8 and 1 for bool, which is exact.
Tensor min(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

// bool, with the shape of x: true at the element that max takes. No gradient: it is a choice.
Tensor first_maximum(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {},
                     Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MAX_H
