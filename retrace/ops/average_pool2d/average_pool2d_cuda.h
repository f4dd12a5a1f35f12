#pragma once
// Arguments of the kernels of average pooling.

#include "retrace/ops/pool/pooling_window.h"

namespace retrace {

struct CudaCall;

struct AveragePoolArguments {
  cuda::Global<const float> from;
  cuda::Global<float> to;
  PoolGrid grid;
  unsigned count;     // elements of `to`
  int count_padding;  // a mean divides by the whole window

  // The divisor of the mean of window (oy, ox).
  RT_BOTH float divisor(int oy, int ox) const {
    if (count_padding) return static_cast<float>(grid.height) * static_cast<float>(grid.width);
    const auto y = present_part(oy, grid.stride_y, grid.top, grid.height, grid.in_height);
    const auto x = present_part(ox, grid.stride_x, grid.left, grid.width, grid.in_width);
    return static_cast<float>(y.end - y.first) * static_cast<float>(x.end - x.first);
  }
};

// Add the launch.
void cuda_average_pool2d(const CudaCall& call);
void cuda_average_pool2d_gradient(const CudaCall& call);

}  // namespace retrace
