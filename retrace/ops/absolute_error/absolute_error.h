#ifndef RETRACE_OPS_ABSOLUTE_ERROR_H
#define RETRACE_OPS_ABSOLUTE_ERROR_H
// Losses that outliers pull less than squares. Each is one unlabelled number: the mean over all M elements of y, sum by
// the row rule. y and t have the same shape and type, f32 or f64; Error(usage) otherwise. d = y - t.

#include "retrace/tensor/tensor.h"

namespace retrace {

// loss = sum of |d| / M. Gradients: s = dloss / M where d > 0, -s where d < 0, else 0 for y, its negative for t.
Tensor mean_absolute_error(const Tensor& y, const Tensor& t, Place place = Place::here());

// Options of huber. Beyond delta, a positive number, the loss is linear.
struct HuberOptions {
  double delta = 1;
};

// loss = sum of h(d) / M (Huber 1964); h(d) = 0.5 (d * d) where |d| <= delta, else delta (|d| - delta / 2), with delta
// / 2 rounded once. Gradients: s = dloss / M, times d where |d| <= delta, else times delta with the sign of d, for y;
// its negative for t. Error(usage) for a delta that is not positive.
Tensor huber(const Tensor& y, const Tensor& t, const HuberOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ABSOLUTE_ERROR_H
