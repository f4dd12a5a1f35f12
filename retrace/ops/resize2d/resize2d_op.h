#pragma once
// What the host sides of the kernels of resize2d share.

#include "retrace/ops/resize2d/resize2d_kernel.h"

namespace retrace {

// The shape from the recorded attribute `rule`, for images x [n,h,w,c] that become y.
ResizeShape resize_shape(const Attributes& attributes, const Shape& x, const Shape& y);

}  // namespace retrace
