#pragma once
// The ops of adaptive pooling: windows along the attribute `axis` of any array. What is given back to x is added to a
// last input more, if there is one, window by window.

#include "retrace/ops/adaptive_pool2d/adaptive_pool2d_kernel.h"
#include "retrace/ops/op.h"

namespace retrace {

// Of an array of that shape whose `axis` becomes `size` windows, and of the pooled array of an `axis` of `size`
// elements.
AdaptiveShape adaptive_pooled_shape(const Attributes& attributes, const Shape& x);
AdaptiveShape adaptive_spread_shape(const Attributes& attributes, const Shape& dy);

// `axis` to `size` windows: the mean of each, the greatest element or the first NaN of each. x has no labels, and all
// sizes are at least 1, but of axis 0.
Tensor adaptive_average_along(const Tensor& x, int axis, int64_t size, Place place);
Tensor adaptive_max_along(const Tensor& x, int axis, int64_t size, Place place);

void define_adaptive_average(OpTable& table);
void define_adaptive_max(OpTable& table);

// What both ops check of x, and of dy: the spec of the pooled array, and of the array.
TensorSpec infer_adaptive_pooled(const InferCall& call);
TensorSpec infer_adaptive_spread(const InferCall& call, size_t inputs);

}  // namespace retrace
