#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/max_pool2d/max_pool2d_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include <algorithm>

#include "retrace/device/cpu/simd.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/max_pool2d/max_pool2d_kernel.h"
#include "retrace/ops/pool/pooling_simd.h"

RT_TARGET_BEGIN

// True in the lanes where `next` beats the best so far: it is greater, or the first NaN.
RT_INLINE Mask beats(F32 next, F32 best) { return both(equal(best, best), opposite(less_equal(next, best))); }

// forward_rows where tiles_image.
template <class Index>
void forward_tiles(const PoolShape& s, const float* x, float* y, Index* index, int64_t first, int64_t end) {
  const int64_t height = s.window.height, width = s.window.width, channels = s.channels;
  const int64_t in_size = s.window.in_width * channels, out_size = s.window.out_width() * channels;
  for (int64_t row = first; row < end; ++row) {
    const float* from = x + row * height * in_size;
    for_each_tile(s, [=](int64_t at, int64_t low, int64_t high, auto halves) __attribute__((always_inline)) {
      F32 best = halves.read(from + low, from + high);
      I32 slot(0);
      const auto compare = [&](int64_t shift, int64_t number) __attribute__((always_inline)) {
        const F32 next = halves.read(from + low + shift, from + high + shift);
        const Mask wins = beats(next, best);
        best = select(wins, next, best);
        slot = select(wins, I32(static_cast<int32_t>(number)), slot);
      };
      if (height == 2 && width == 2) {
        compare(channels, 1), compare(in_size, 2), compare(in_size + channels, 3);
      } else {
        for (int64_t ky = 0; ky < height; ++ky)
          for (int64_t kx = 0; kx < width; ++kx) compare(ky * in_size + kx * channels, ky * width + kx);
      }
      store(best, y + row * out_size + at);
      store_int(slot, index + row * out_size + at);
    });
  }
}

// backward_rows where tiles_image.
template <class Index>
void backward_tiles(const PoolShape& s, const float* dy, const Index* index, float* dx, int64_t first, int64_t end) {
  const Window& w = s.window;
  const int64_t channels = s.channels, in_size = w.in_width * channels, out_size = w.out_width() * channels;
  for (int64_t row = first; row < end; ++row) {
    const int64_t from = row / w.height * out_size, slot = row % w.height * w.width;
    float* to = dx + row * in_size;
    for_each_tile(s, [&](int64_t at, int64_t low, int64_t high, auto halves) __attribute__((always_inline)) {
      const F32 value = F32(0.0f) + load(dy + from + at);  // a sum begins with +0
      const I32 winner = load_int(index + from + at);
      for (int64_t kx = 0; kx < w.width; ++kx) {
        const Mask mine = equal(winner, I32(static_cast<int32_t>(slot + kx)));
        halves.write(select(mine, value, F32(0.0f)), to + low + kx * channels, to + high + kx * channels);
      }
    });
  }
}

// Rows first..end-1 of the output; a row is (sample, oy).
template <class Index>
void forward_rows(const PoolShape& s, const float* x, float* y, Index* index, int64_t first, int64_t end) {
  if (tiles_image(s)) return forward_tiles(s, x, y, index, first, end);
  const Window& w = s.window;
  const int64_t out_height = w.out_height(), out_width = w.out_width(), channels = s.channels;
  const float* x_end = x + s.inputs();
  float* y_end = y + end * out_width * channels;
  Index* index_end = index + end * out_width * channels;
  float* to = y + first * out_width * channels;
  Index* slot_to = index + first * out_width * channels;
  for (int64_t row = first; row < end; ++row) {
    const int64_t n = row / out_height, oy = row % out_height;
    const auto [ky_first, ky_end] = present_part(oy, w.stride_y, w.top, w.height, w.in_height);
    for (int64_t ox = 0; ox < out_width; ++ox, to += channels, slot_to += channels) {
      const auto [kx_first, kx_end] = present_part(ox, w.stride_x, w.left, w.width, w.in_width);
      for (int64_t c = 0; c < channels; c += kLanes) {
        const int lanes = static_cast<int>(std::min<int64_t>(kLanes, channels - c));
        const auto at = [&](int64_t ky, int64_t kx) __attribute__((always_inline)) {
          const int64_t iy = oy * w.stride_y + ky - w.top, ix = ox * w.stride_x + kx - w.left;
          return load_before(x + ((n * w.in_height + iy) * w.in_width + ix) * channels + c, lanes, x_end);
        };
        F32 best = at(ky_first, kx_first);
        I32 slot(static_cast<int32_t>(ky_first * w.width + kx_first));
        for (int64_t ky = ky_first; ky < ky_end; ++ky)
          for (int64_t kx = kx_first; kx < kx_end; ++kx) {
            const F32 next = at(ky, kx);
            const Mask wins = beats(next, best);
            best = select(wins, next, best);
            slot = select(wins, I32(static_cast<int32_t>(ky * w.width + kx)), slot);
          }
        store_before(best, to + c, lanes, y_end);
        store_index(slot, slot_to + c, lanes, index_end);
      }
    }
  }
}

// Rows first..end-1 of dx; a row is (sample, iy).
template <class Index>
void backward_rows(const PoolShape& s, const float* dy, const Index* index, float* dx, int64_t first, int64_t end) {
  if (tiles_image(s)) return backward_tiles(s, dy, index, dx, first, end);
  const Window& w = s.window;
  const int64_t out_height = w.out_height(), out_width = w.out_width(), channels = s.channels, outputs = s.outputs();
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
            const int64_t from = ((n * out_height + oy) * out_width + ox) * channels + c;
            const int64_t slot = (iy + w.top - oy * w.stride_y) * w.width + ix + w.left - ox * w.stride_x;
            const Mask mine = equal(load_index(index + from, lanes, index + outputs), I32(static_cast<int32_t>(slot)));
            sum = sum + select(mine, load_before(dy + from, lanes, dy + outputs), F32(0.0f));
          }
        store_before(sum, to + c, lanes, dx_end);
      }
    }
  }
}

void forward_rows_u8(const PoolShape& s, const float* x, float* y, uint8_t* index, int64_t first, int64_t end) {
  forward_rows(s, x, y, index, first, end);
}
void forward_rows_i32(const PoolShape& s, const float* x, float* y, int32_t* index, int64_t first, int64_t end) {
  forward_rows(s, x, y, index, first, end);
}
void backward_rows_u8(const PoolShape& s, const float* dy, const uint8_t* index, float* dx, int64_t first,
                      int64_t end) {
  backward_rows(s, dy, index, dx, first, end);
}
void backward_rows_i32(const PoolShape& s, const float* dy, const int32_t* index, float* dx, int64_t first,
                       int64_t end) {
  backward_rows(s, dy, index, dx, first, end);
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
RT_EXPORT_KERNEL(max_pool2d_forward_u8, forward_rows_u8);
RT_EXPORT_KERNEL(max_pool2d_forward_i32, forward_rows_i32);
RT_EXPORT_KERNEL(max_pool2d_backward_u8, backward_rows_u8);
RT_EXPORT_KERNEL(max_pool2d_backward_i32, backward_rows_i32);

template <>
void max_pool2d_forward(const PoolShape& shape, const float* x, float* y, uint8_t* index) {
  const auto kernel = max_pool2d_forward_u8.get();
  run_row_pieces(shape.batch * shape.window.out_height(), shape.window.out_width() * shape.channels, shape.row_inputs(),
                 nullptr, [&](int64_t first, int64_t end) { kernel(shape, x, y, index, first, end); });
}
template <>
void max_pool2d_forward(const PoolShape& shape, const float* x, float* y, int32_t* index) {
  const auto kernel = max_pool2d_forward_i32.get();
  run_row_pieces(shape.batch * shape.window.out_height(), shape.window.out_width() * shape.channels, shape.row_inputs(),
                 nullptr, [&](int64_t first, int64_t end) { kernel(shape, x, y, index, first, end); });
}
template <>
void max_pool2d_backward(const PoolShape& shape, const float* dy, const uint8_t* index, float* dx, PoolDone done) {
  const auto kernel = max_pool2d_backward_u8.get();
  run_row_pieces(shape.batch * shape.window.in_height, shape.window.in_width * shape.channels, 0, done,
                 [&](int64_t first, int64_t end) { kernel(shape, dy, index, dx, first, end); });
}
template <>
void max_pool2d_backward(const PoolShape& shape, const float* dy, const int32_t* index, float* dx, PoolDone done) {
  const auto kernel = max_pool2d_backward_i32.get();
  run_row_pieces(shape.batch * shape.window.in_height, shape.window.in_width * shape.channels, 0, done,
                 [&](int64_t first, int64_t end) { kernel(shape, dy, index, dx, first, end); });
}
}  // namespace retrace
#endif
