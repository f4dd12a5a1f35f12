#pragma once
// An element of the gradient of max pooling, for its kernel and for those that are generated for plans.

#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/pool/pooling_window.h"

namespace retrace::cuda {

// Element i of the image: dy of the windows that it wins, in ascending order. `apart`: it lies in one window at most.
template <bool apart, class Index>
RT_DEVICE float max_pool2d_gradient_element(Global<const float> dy, Global<const Index> index, const PoolGrid& g,
                                            unsigned i) {
  const PoolPlace at = g.place(i);
  const Present<int> rows = g.windows_of_row(at.y), columns = g.windows_of_column(at.x);
  const auto part = [&](int oy, int ox) -> float {
    const unsigned from = g.pooled(at.n, oy, ox, at.c);
    const int slot = (at.y + g.top - oy * g.stride_y) * g.width + at.x + g.left - ox * g.stride_x;
    const float value = dy[from];
    return index[from] == slot ? value : 0.0f;
  };
  float sum = 0;
  if constexpr (apart) {
    if (rows.first < rows.end && columns.first < columns.end) sum = sum + part(rows.first, columns.first);
  } else {
    for (int oy = rows.first; oy < rows.end; ++oy)
      for (int ox = columns.first; ox < columns.end; ++ox) sum = sum + part(oy, ox);
  }
  return sum;
}

}  // namespace retrace::cuda
