#pragma once
// The axis of a softmax.

#include "retrace/ops/softmax/softmax.h"

namespace retrace {

// The axis that softmax takes. Throws Error(usage) for a tensor of rank 0 or an axis that does not exist.
int softmax_axis(const Tensor& x, const Axes& axis, const char* op, Place place);

}  // namespace retrace
