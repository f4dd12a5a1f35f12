#ifndef RETRACE_OPS_LOGICAL_H
#define RETRACE_OPS_LOGICAL_H
// Logic. Each works element by element, with broadcasting, on one type, which may be any: true is what is not 0, so
// also NaN. The result is bool. Error(usage) if types differ or shapes do not broadcast. No gradient: the results are
// bool.

#include "retrace/ops/sum/sum.h"

namespace retrace {

// True where a and b are.
Tensor logical_and(const Tensor& a, const Tensor& b, Place place = Place::here());

// True where a or b is.
Tensor logical_or(const Tensor& a, const Tensor& b, Place place = Place::here());

// True where one of a and b is and the other is not.
Tensor logical_xor(const Tensor& a, const Tensor& b, Place place = Place::here());

// True where x is not.
Tensor logical_not(const Tensor& x, Place place = Place::here());

// Whether an element of x is true, over axes (none named: all of them); of no elements: false. Error(usage) as sum.
Tensor any(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

// Whether all elements of x are true; of no elements: true.
Tensor all(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_LOGICAL_H
