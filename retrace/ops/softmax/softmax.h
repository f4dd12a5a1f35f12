#pragma once
// Softmax.

#include <optional>

#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of softmax.
struct SoftmaxOptions {
  std::optional<int> axis = {};  // default: the axis labelled C, else the last; negative axes count from the end
};

// y = exp(x - max x) / sum of exp(x - max x) along one axis, in this sequence of roundings: the difference, exp, the
// sum by the row rule of docs/numerics.md 3 (whatever the axis), the quotient; a result below 2^-126 is +0. f32 and
// f64. Gradient: y (dy - sum(dy y)). Error(usage) for rank 0 or an axis that does not exist.
Tensor softmax(const Tensor& x, SoftmaxOptions options = {}, Place place = Place::here());

// The axis that softmax takes. Throws Error(usage) for a tensor of rank 0 or an axis that does not exist.
int softmax_axis(const Tensor& x, SoftmaxOptions options, const char* op, Place place);

}  // namespace retrace
