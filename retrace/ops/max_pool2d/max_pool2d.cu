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

// The same of four neighbouring channels, of windows of at most two by two elements, which are all loaded first.
RT_DEVICE void forward_of_four(const MaxPoolArguments<unsigned char>& a) {
  const unsigned i = 4 * element_number();
  if (i >= a.count) return;
  const PoolGrid& g = a.grid;
  const auto [n, c, oy, ox] = g.pooled_place(i);
  const auto [ky_first, ky_end] = present_part(oy, g.stride_y, g.top, g.height, g.in_height);
  const auto [kx_first, kx_end] = present_part(ox, g.stride_x, g.left, g.width, g.in_width);
  Float4 window[4];
  bool there[4];
  RT_UNROLL
  for (int k = 0; k < 4; ++k) {
    const int ky = k / 2, kx = k % 2;
    there[k] = ky >= ky_first && ky < ky_end && kx >= kx_first && kx < kx_end;
    if (there[k]) window[k] = load4(a.x, g.source(n, oy, ox, c, ky, kx));
  }
  float best[4] = {};
  unsigned slots = 0;
  RT_UNROLL
  for (int channel = 0; channel < 4; ++channel) {
    unsigned slot = 0;
    bool any = false;
    RT_UNROLL
    for (int k = 0; k < 4; ++k) {
      if (!there[k]) continue;
      const float values[4] = {window[k].x, window[k].y, window[k].z, window[k].w};
      const float next = values[channel];
      const bool wins = !any || (best[channel] == best[channel] && !(next <= best[channel]));
      if (wins) best[channel] = next, slot = static_cast<unsigned>(k / 2 * g.width + k % 2);
      any = true;
    }
    slots |= slot << 8 * channel;
  }
  store4(a.y, i, {best[0], best[1], best[2], best[3]});
  Global<unsigned>(static_cast<void*>(a.index.pointer))[i / 4] = slots;
}

// The same of four neighbouring channels, of elements that lie in one window at most.
RT_DEVICE void gradient_of_four(const MaxPoolGradientArguments<unsigned char>& a) {
  const unsigned i = 4 * element_number();
  if (i >= a.count) return;
  const PoolGrid& g = a.grid;
  const auto [n, c, y, x] = g.place(i);
  const Present<int> rows = g.windows_of_row(y), columns = g.windows_of_column(x);
  float sum[4] = {};
  if (rows.first < rows.end && columns.first < columns.end) {
    const unsigned from = g.pooled(n, rows.first, columns.first, c);
    const Float4 dy = load4(a.dy, from);
    const unsigned slots = Global<const unsigned>(static_cast<const void*>(a.index.pointer))[from / 4];
    const int slot = (y + g.top - rows.first * g.stride_y) * g.width + x + g.left - columns.first * g.stride_x;
    const float values[4] = {dy.x, dy.y, dy.z, dy.w};
    RT_UNROLL
    for (int channel = 0; channel < 4; ++channel) {
      const bool won = static_cast<int>(slots >> 8 * channel & 255u) == slot;
      sum[channel] = sum[channel] + (won ? values[channel] : 0.0f);
    }
  }
  store4(a.dx, i, {sum[0], sum[1], sum[2], sum[3]});
}

}  // namespace

RT_KERNEL(max_pool2d_u8, MaxPoolArguments<unsigned char>, a) { forward(a); }
RT_KERNEL(max_pool2d_i32, MaxPoolArguments<int>, a) { forward(a); }
RT_KERNEL(max_pool2d_of_four_u8, MaxPoolArguments<unsigned char>, a) { forward_of_four(a); }
RT_KERNEL(max_pool2d_gradient_of_four_u8, MaxPoolGradientArguments<unsigned char>, a) { gradient_of_four(a); }
RT_KERNEL(max_pool2d_gather_u8, MaxPoolGatherArguments<unsigned char>, a) { gather(a); }
RT_KERNEL(max_pool2d_gather_i32, MaxPoolGatherArguments<int>, a) { gather(a); }
RT_KERNEL(max_pool2d_gradient_u8, MaxPoolGradientArguments<unsigned char>, a) { gradient(a); }
RT_KERNEL(max_pool2d_gradient_i32, MaxPoolGradientArguments<int>, a) { gradient(a); }

}  // namespace retrace::cuda
