// Max pooling, one thread an element of the result.
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/max_pool2d/max_pool2d_cuda.h"
#include "retrace/ops/max_pool2d/max_pool2d_element_cuda.h"

namespace retrace::cuda {
namespace {

template <class Index>
RT_DEVICE void forward(const MaxPoolArguments<Index>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const PoolGrid& g = a.grid;
  const auto [n, c, oy, ox] = g.pooled_place(i);
  const auto [ky_first, ky_end] = present_part(oy, g.stride_y, g.top, g.height, g.in_height);
  const auto [kx_first, kx_end] = present_part(ox, g.stride_x, g.left, g.width, g.in_width);
  int slot = ky_first * g.width + kx_first;
  float best = a.x[g.source(n, oy, ox, c, ky_first, kx_first)];
  for (int ky = ky_first; ky < ky_end; ++ky)
    for (int kx = kx_first; kx < kx_end; ++kx) {
      const float next = a.x[g.source(n, oy, ox, c, ky, kx)];
      const bool wins = best == best && !(next <= best);  // greater, or the first NaN
      best = wins ? next : best;
      slot = wins ? ky * g.width + kx : slot;
    }
  a.y[i] = best;
  a.index[i] = static_cast<Index>(slot);
}

template <class Index>
RT_DEVICE void gather(const MaxPoolGatherArguments<Index>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const PoolGrid& g = a.grid;
  const auto [n, c, oy, ox] = g.pooled_place(i);
  const auto [ky, kx] = g.by_width.split(static_cast<unsigned>(static_cast<Index>(a.index[i])));
  a.y[i] = a.x[g.source(n, oy, ox, c, static_cast<int>(ky), static_cast<int>(kx))];
}

template <class Index>
RT_DEVICE void gradient(const MaxPoolGradientArguments<Index>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  a.dx[i] = max_pool2d_gradient_element<false, Index>(a.dy, a.index, a.grid, i);
}

}  // namespace

RT_KERNEL(max_pool2d_u8, MaxPoolArguments<unsigned char>, a) { forward(a); }
RT_KERNEL(max_pool2d_i32, MaxPoolArguments<int>, a) { forward(a); }
RT_KERNEL(max_pool2d_gather_u8, MaxPoolGatherArguments<unsigned char>, a) { gather(a); }
RT_KERNEL(max_pool2d_gather_i32, MaxPoolGatherArguments<int>, a) { gather(a); }
RT_KERNEL(max_pool2d_gradient_u8, MaxPoolGradientArguments<unsigned char>, a) { gradient(a); }
RT_KERNEL(max_pool2d_gradient_i32, MaxPoolGradientArguments<int>, a) { gradient(a); }

}  // namespace retrace::cuda
