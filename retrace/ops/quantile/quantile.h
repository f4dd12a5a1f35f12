#ifndef RETRACE_OPS_QUANTILE_H
#define RETRACE_OPS_QUANTILE_H
// Quantiles.

#include "retrace/ops/sum/sum.h"
#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// The number below which a part q of the n numbers of a line lies: between those at floor(p) and floor(p) + 1 of the
// sorted line, p = q * (n - 1), w = p - floor(p): a + (b - a) * w for w < 0.5, else b - (b - a) * (1 - w), each
// operation rounded (numpy's and PyTorch's "linear"). NaN where a line has one. One axis, which the result lacks unless
// options.keep; none named: all numbers are one line. f32 and f64. Gradient: those of sort and these ops. Error(usage)
// for q outside of 0 to 1 and an axis of no elements.
Tensor quantile(const Tensor& x, double q, const Axes& axis = {}, const ReduceOptions& options = {},
                Place place = Place::here());

// quantile(x, 0.5): the mean of the two middle numbers where their count is even (numpy's median; PyTorch's is the
// lower one).
Tensor median(const Tensor& x, const Axes& axis = {}, const ReduceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_QUANTILE_H
