#pragma once
// The f32 kernels of average pooling; the contract is in average_pool2d.h. `done` is called for finished elements.

#include "retrace/ops/pool/pooling.h"

namespace retrace {

void average_pool2d_forward(const PoolShape& shape, bool count_padding, const float* x, float* y, PoolDone done);
// dx from dy; every element is written.
void average_pool2d_backward(const PoolShape& shape, bool count_padding, const float* dy, float* dx, PoolDone done);

// Elements that the mean of window (oy, ox) divides by.
inline int64_t average_pool2d_count(const Window& w, bool count_padding, int64_t oy, int64_t ox) {
  if (count_padding) return w.height * w.width;
  const auto y = present_part(oy, w.stride_y, w.top, w.height, w.in_height);
  const auto x = present_part(ox, w.stride_x, w.left, w.width, w.in_width);
  return (y.end - y.first) * (x.end - x.first);
}

}  // namespace retrace
