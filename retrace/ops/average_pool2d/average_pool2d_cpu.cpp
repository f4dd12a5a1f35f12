#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/average_pool2d/average_pool2d_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include <algorithm>

#include "retrace/device/cpu/simd.h"
#include "retrace/ops/average_pool2d/average_pool2d_kernel.h"
#include "retrace/ops/pool/pooling_simd.h"

RT_TARGET_BEGIN

// average_forward_rows where tiles_image: the divisor is the window's size.
void average_forward_tiles(const PoolShape& s, const float* x, float* y, int64_t first, int64_t end) {
  const Window& w = s.window;
  const int64_t channels = s.channels, in_size = w.in_width * channels, out_size = w.out_width() * channels;
  const MeanOf mean(w.height * w.width);
  for (int64_t row = first; row < end; ++row) {
    const float* from = x + row * w.height * in_size;
    for_each_tile(s, [&](int64_t at, int64_t low, int64_t high, auto halves) __attribute__((always_inline)) {
      F32 sum(0.0f);
      for (int64_t ky = 0; ky < w.height; ++ky)
        for (int64_t kx = 0; kx < w.width; ++kx) {
          const int64_t shift = ky * in_size + kx * channels;
          sum = sum + halves.read(from + low + shift, from + high + shift);
        }
      store(mean(sum), y + row * out_size + at);
    });
  }
}

// average_backward_rows where tiles_image.
void average_backward_tiles(const PoolShape& s, const float* dy, float* dx, int64_t first, int64_t end) {
  const Window& w = s.window;
  const int64_t channels = s.channels, in_size = w.in_width * channels, out_size = w.out_width() * channels;
  const MeanOf mean(w.height * w.width);
  for (int64_t row = first; row < end; ++row) {
    const float* from = dy + row / w.height * out_size;
    float* to = dx + row * in_size;
    for_each_tile(s, [&](int64_t at, int64_t low, int64_t high, auto halves) __attribute__((always_inline)) {
      const F32 share = F32(0.0f) + mean(load(from + at));  // a sum begins with +0
      for (int64_t kx = 0; kx < w.width; ++kx) halves.write(share, to + low + kx * channels, to + high + kx * channels);
    });
  }
}

constexpr int kPooledVectors = 4;  // of 16 channels

// The present part of a window, from its first element on.
struct WindowPart {
  const float* x;
  int64_t rows, columns, row_step, column_step;
};

// Sums of `groups` times 16 channels side by side: their additions overlap.
template <int groups>
RT_INLINE void average_channels(const WindowPart& part, F32 count, float* to) {
  F32 sum[groups];
  for (F32& each : sum) each = F32(0.0f);
  for (int64_t row = 0; row < part.rows; ++row) {
    const float* from = part.x + row * part.row_step;
    for (int64_t column = 0; column < part.columns; ++column, from += part.column_step) {
      RT_UNROLL
      for (int g = 0; g < groups; ++g) sum[g] = sum[g] + load(from + g * kLanes);
    }
  }
  for (int g = 0; g < groups; ++g) store(sum[g] / count, to + g * kLanes);
}

// The same of channels c and up, as long as there are so many; returns the first one that is left. part.x follows.
template <int groups>
RT_INLINE int64_t average_groups(WindowPart& part, F32 count, int64_t channels, int64_t c, float* to) {
  for (; c + groups * kLanes <= channels; c += groups * kLanes, part.x += groups * kLanes)
    average_channels<groups>(part, count, to + c);
  return c;
}

// Rows first..end-1 of the output; a row is (sample, oy).
void average_forward_rows(const PoolShape& s, bool count_padding, const float* x, float* y, int64_t first,
                          int64_t end) {
  const Window& w = s.window;
  const bool one = w.out_height() == 1 && w.out_width() == 1;  // whose sums had better overlap
  if (tiles_image(s) && !one) return average_forward_tiles(s, x, y, first, end);
  const int64_t out_height = w.out_height(), out_width = w.out_width(), channels = s.channels;
  const float* x_end = x + s.inputs();
  const float* y_end = y + end * out_width * channels;
  float* to = y + first * out_width * channels;
  for (int64_t row = first; row < end; ++row) {
    const int64_t n = row / out_height, oy = row % out_height;
    const auto [ky_first, ky_end] = present_part(oy, w.stride_y, w.top, w.height, w.in_height);
    for (int64_t ox = 0; ox < out_width; ++ox, to += channels) {
      const auto [kx_first, kx_end] = present_part(ox, w.stride_x, w.left, w.width, w.in_width);
      const F32 count(static_cast<float>(average_pool2d_count(w, count_padding, oy, ox)));
      const int64_t iy = oy * w.stride_y + ky_first - w.top, ix = ox * w.stride_x + kx_first - w.left;
      WindowPart part{x + ((n * w.in_height + iy) * w.in_width + ix) * channels, ky_end - ky_first, kx_end - kx_first,
                      w.in_width * channels, channels};
      int64_t c = average_groups<kPooledVectors>(part, count, channels, 0, to);
      c = average_groups<2>(part, count, channels, c, to);
      c = average_groups<1>(part, count, channels, c, to);
      for (; c < channels; c += kLanes, part.x += kLanes) {
        const int lanes = static_cast<int>(std::min<int64_t>(kLanes, channels - c));
        F32 sum(0.0f);
        for (int64_t row = 0; row < part.rows; ++row)
          for (int64_t column = 0; column < part.columns; ++column)
            sum = sum + load_before(part.x + row * part.row_step + column * part.column_step, lanes, x_end);
        store_before(sum / count, to + c, lanes, y_end);
      }
    }
  }
}

// Rows first..end-1 of dx; a row is (sample, iy).
void average_backward_rows(const PoolShape& s, bool count_padding, const float* dy, float* dx, int64_t first,
                           int64_t end) {
  if (tiles_image(s)) return average_backward_tiles(s, dy, dx, first, end);
  const Window& w = s.window;
  const int64_t out_height = w.out_height(), out_width = w.out_width(), channels = s.channels;
  const float* dy_end = dy + s.outputs();
  const float* dx_end = dx + end * w.in_width * channels;
  float* to = dx + first * w.in_width * channels;
  for (int64_t row = first; row < end; ++row) {
    const int64_t n = row / w.in_height, iy = row % w.in_height;
    const auto [oy_first, oy_end] = covering_windows(iy, w.stride_y, w.top, w.height, out_height);
    for (int64_t ix = 0; ix < w.in_width; ++ix, to += channels) {
      const auto [ox_first, ox_end] = covering_windows(ix, w.stride_x, w.left, w.width, out_width);
      for (int64_t c = 0; c < channels; c += kLanes) {
        const int lanes = static_cast<int>(std::min<int64_t>(kLanes, channels - c));
        F32 sum(0.0f);
        for (int64_t oy = oy_first; oy < oy_end; ++oy)
          for (int64_t ox = ox_first; ox < ox_end; ++ox) {
            const F32 count(static_cast<float>(average_pool2d_count(w, count_padding, oy, ox)));
            sum =
                sum + load_before(dy + ((n * out_height + oy) * out_width + ox) * channels + c, lanes, dy_end) / count;
          }
        store_before(sum, to + c, lanes, dx_end);
      }
    }
  }
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
RT_EXPORT_KERNEL(average_pool2d_forward_table, average_forward_rows);
RT_EXPORT_KERNEL(average_pool2d_backward_table, average_backward_rows);

void average_pool2d_forward(const PoolShape& shape, bool count_padding, const float* x, float* y, PoolDone done) {
  const auto kernel = average_pool2d_forward_table.get();
  run_row_pieces(shape.batch * shape.window.out_height(), shape.window.out_width() * shape.channels, shape.row_inputs(),
                 done, [&](int64_t first, int64_t end) { kernel(shape, count_padding, x, y, first, end); });
}

void average_pool2d_backward(const PoolShape& shape, bool count_padding, const float* dy, float* dx, PoolDone done) {
  const auto kernel = average_pool2d_backward_table.get();
  run_row_pieces(shape.batch * shape.window.in_height, shape.window.in_width * shape.channels, 0, done,
                 [&](int64_t first, int64_t end) { kernel(shape, count_padding, dy, dx, first, end); });
}
}  // namespace retrace
#endif
