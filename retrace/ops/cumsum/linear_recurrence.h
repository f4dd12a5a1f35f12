#pragma once
// The recurrence of cumprod's gradient.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y[0] = b[0], y[i] = a[i] * y[i - 1] + b[i] along one axis, from 0 to rank - 1; in reverse from the last element. The
// product is rounded before the sum. a and b are f32 or f64 with one type and shape; a's first element in that
// direction is not used. Gradients: db is the recurrence of dy in the other direction, with a moved by one; da[i] =
// db[i] * y[i - 1].
Tensor linear_recurrence(const Tensor& a, const Tensor& b, int axis, bool reverse, Place place);

}  // namespace retrace
