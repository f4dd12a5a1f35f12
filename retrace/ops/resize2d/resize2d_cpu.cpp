#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/resize2d/resize2d_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include <algorithm>

#include "retrace/device/cpu/simd.h"
#include "retrace/ops/pool/pooling_simd.h"
#include "retrace/ops/resize2d/resize2d_kernel.h"

RT_TARGET_BEGIN

// Rows first..end-1 of the output; a row is (sample, oy).
void resize_forward_rows(const ResizeShape& s, const ResizeTables<float>& tables, const float* x, float* y,
                         int64_t first, int64_t end) {
  const int64_t channels = s.channels, in_row = s.x.in * channels, out_row = s.x.out * channels;
  const float* x_end = x + s.batch * s.y.in * in_row;
  const float* y_end = y + end * out_row;
  float* to = y + first * out_row;
  for (int64_t row = first; row < end; ++row) {
    const auto [low_y, weight_y] = tables.y[row % s.y.out];
    const float* from_row = x + (row / s.y.out * s.y.in + low_y) * in_row;
    const F32 wy(weight_y), rest_y(1.0f - weight_y);
    for (int ox = 0; ox < s.x.out; ++ox, to += channels) {
      const auto [low_x, weight_x] = tables.x[ox];
      const float* from = from_row + low_x * channels;
      const F32 wx(weight_x), rest_x(1.0f - weight_x);
      for (int64_t c = 0; c < channels; c += kLanes) {
        const int lanes = static_cast<int>(std::min<int64_t>(kLanes, channels - c));
        const auto along_height = [&, wy_is_0 = weight_y == 0](const float* p) __attribute__((always_inline)) {
          const F32 upper = load_before(p, lanes, x_end);
          return wy_is_0 ? upper : fma(wy, load_before(p + in_row, lanes, x_end), rest_y * upper);
        };
        F32 value = along_height(from + c);
        if (weight_x != 0) value = fma(wx, along_height(from + c + channels), rest_x * value);
        store_before(value, to + c, lanes, y_end);
      }
    }
  }
}

// Rows first..end-1 of dx; a row is (sample, iy).
void resize_backward_rows(const ResizeShape& s, const ResizeTables<float>& tables, const float* dy, float* dx,
                          int64_t first, int64_t end) {
  const int64_t channels = s.channels, in_row = s.x.in * channels, out_row = s.x.out * channels;
  const float* dy_end = dy + s.batch * s.y.out * out_row;
  const float* dx_end = dx + end * in_row;
  float* to = dx + first * in_row;
  for (int64_t row = first; row < end; ++row) {
    const int iy = static_cast<int>(row % s.y.in);
    const float* image = dy + row / s.y.in * s.y.out * out_row;
    const ResizeRange of_y = tables.rows[iy];
    for (int ix = 0; ix < s.x.in; ++ix, to += channels) {
      const ResizeRange of_x = tables.columns[ix];
      for (int64_t c = 0; c < channels; c += kLanes) {
        const int lanes = static_cast<int>(std::min<int64_t>(kLanes, channels - c));
        F32 sum(0.0f);
        for (int ox = of_x.first; ox < of_x.end; ++ox) {
          const float wx = tables.x[ox].of(ix);
          if (wx == 0) continue;
          F32 column(0.0f);
          for (int oy = of_y.first; oy < of_y.end; ++oy)
            if (const float wy = tables.y[oy].of(iy); wy != 0)
              column = fma(F32(wy), load_before(image + oy * out_row + ox * channels + c, lanes, dy_end), column);
          sum = fma(F32(wx), column, sum);
        }
        store_before(sum, to + c, lanes, dx_end);
      }
    }
  }
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
RT_EXPORT_KERNEL(resize2d_forward_table, resize_forward_rows);
RT_EXPORT_KERNEL(resize2d_backward_table, resize_backward_rows);

void resize2d_forward(const ResizeShape& shape, const ResizeTables<float>& tables, const float* x, float* y,
                      PoolDone done) {
  const auto kernel = resize2d_forward_table.get();
  run_row_pieces(shape.batch * shape.y.out, shape.x.out * shape.channels, 0, done,
                 [&](int64_t first, int64_t end) { kernel(shape, tables, x, y, first, end); });
}

void resize2d_backward(const ResizeShape& shape, const ResizeTables<float>& tables, const float* dy, float* dx,
                       PoolDone done) {
  const auto kernel = resize2d_backward_table.get();
  run_row_pieces(shape.batch * shape.y.in, shape.x.in * shape.channels, 0, done,
                 [&](int64_t first, int64_t end) { kernel(shape, tables, dy, dx, first, end); });
}
}  // namespace retrace
#endif
