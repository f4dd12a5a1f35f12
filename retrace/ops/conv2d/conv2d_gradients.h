#pragma once
// The two gradients of the convolution of images: ops of their own. The three are closed under differentiation.

#include "retrace/tensor/tensor.h"

namespace retrace {

// The options as the ops record them: padding is {top, bottom, left, right}, with `same` resolved.
struct Conv2dGeometry {
  Shape stride{1, 1}, padding{0, 0, 0, 0}, dilation{1, 1};
  int64_t groups = 1;
};

// The gradient of that convolution for x, from dy [n,oh,ow,o]. `size` = {h, w} of the image; it must lead to the size
// of dy, or Error(usage) is thrown. Same order of sums, docs/numerics.md 2.
Tensor conv2d_input_gradient(const Tensor& dy, const Tensor& weights, const Conv2dGeometry& geometry, const Shape& size,
                             Place place = Place::here());

// The gradient of that convolution for the weights, from x and dy: [kh,kw,c/groups,o], with `kernel` = {kh, kw}. The
// sum runs over sample, output row and output column, docs/numerics.md 2. Error(usage) for sizes that do not go
// together.
Tensor conv2d_filter_gradient(const Tensor& x, const Tensor& dy, const Conv2dGeometry& geometry, const Shape& kernel,
                              Place place = Place::here());

}  // namespace retrace
