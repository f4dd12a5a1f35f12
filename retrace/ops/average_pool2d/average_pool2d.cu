// Average pooling, one thread an element of the result.
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/average_pool2d/average_pool2d_cuda.h"

namespace retrace::cuda {

RT_KERNEL(average_pool2d, AveragePoolArguments, a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const PoolGrid& g = a.grid;
  const auto [n, c, oy, ox] = g.pooled_place(i);
  const auto [ky_first, ky_end] = present_part(oy, g.stride_y, g.top, g.height, g.in_height);
  const auto [kx_first, kx_end] = present_part(ox, g.stride_x, g.left, g.width, g.in_width);
  float sum = 0;
  for (int ky = ky_first; ky < ky_end; ++ky)
    for (int kx = kx_first; kx < kx_end; ++kx) sum = sum + a.from[g.source(n, oy, ox, c, ky, kx)];
  a.to[i] = sum / a.divisor(oy, ox);
}

RT_KERNEL(average_pool2d_gradient, AveragePoolArguments, a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const PoolGrid& g = a.grid;
  const auto [n, c, iy, ix] = g.place(i);
  const auto [oy_first, oy_end] = g.windows_of_row(iy);
  const auto [ox_first, ox_end] = g.windows_of_column(ix);
  float sum = 0;
  for (int oy = oy_first; oy < oy_end; ++oy)
    for (int ox = ox_first; ox < ox_end; ++ox) sum = sum + a.from[g.pooled(n, oy, ox, c)] / a.divisor(oy, ox);
  a.to[i] = sum;
}

// The same of four neighbouring channels.
RT_KERNEL(average_pool2d_gradient_of_four, AveragePoolArguments, a) {
  const unsigned i = 4 * element_number();
  if (i >= a.count) return;
  const PoolGrid& g = a.grid;
  const auto [n, c, iy, ix] = g.place(i);
  const auto [oy_first, oy_end] = g.windows_of_row(iy);
  const auto [ox_first, ox_end] = g.windows_of_column(ix);
  Float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int oy = oy_first; oy < oy_end; ++oy)
    for (int ox = ox_first; ox < ox_end; ++ox) {
      const Float4 dy = load4(a.from, g.pooled(n, oy, ox, c));
      const float divisor = a.divisor(oy, ox);
      sum = {sum.x + dy.x / divisor, sum.y + dy.y / divisor, sum.z + dy.z / divisor, sum.w + dy.w / divisor};
    }
  store4(a.to, i, sum);
}

}  // namespace retrace::cuda
