#ifndef RETRACE_OPS_CUMSUM_H
#define RETRACE_OPS_CUMSUM_H
// Running sums and products along an axis.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of cumsum and cumprod.
struct CumulativeOptions {
  bool reverse = false;  // from the end of the axis to its begin
};

// y[i] = x[0] + ... + x[i] along one axis, with the shape and labels of x. Order: y[0] = x[0], then y[i] = y[i - 1] +
// x[i], one rounding each, from left to right (reverse: from the last element), the same for every axis, size and
// device. f32, f64 and i32 keep their type; sums of u8 and bool are i32. Integers wrap. Gradient: the cumsum of dy in
// the other direction. Error(usage) for an axis or a label that x lacks.
Tensor cumsum(const Tensor& x, const Axes& axis, const CumulativeOptions& options = {}, Place place = Place::here());

// y[i] = x[0] * ... * x[i] along one axis, in the order of cumsum: y[0] = x[0], y[i] = y[i - 1] * x[i]. Types and
// errors as of cumsum. Gradient: dx[k] = y[k - 1] * s[k], s[k] = x[k + 1] * s[k + 1] + dy[k], two roundings each, with
// 1 for y[-1] and s[n - 1] = dy[n - 1]; it divides by nothing, so it is right also where elements are 0.
Tensor cumprod(const Tensor& x, const Axes& axis, const CumulativeOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CUMSUM_H
