#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/adaptive_pool2d/adaptive_pool2d_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include <algorithm>

#include "retrace/device/cpu/simd.h"
#include "retrace/ops/adaptive_pool2d/adaptive_pool2d_kernel.h"
#include "retrace/ops/pool/pooling_simd.h"

RT_TARGET_BEGIN

// So many vectors, as a type.
template <int count>
struct Vectors {
  static constexpr int value = count;
};

// whole(Vectors<n>, c) for 16 n elements from c on of a row of `inner`, n being `most` and less at the end, and
// rest(c, lanes) for what is no vector. Vectors side by side overlap their chains; the scalar target takes them singly.
template <int most, class Whole, class Rest>
RT_INLINE void for_each_vectors(int64_t inner, Whole whole, Rest rest) {
  int64_t c = 0;
#if !RT_SIMD_SCALAR
  for (; c + most * kLanes <= inner; c += most * kLanes) whole(Vectors<most>(), c);
  if (most > 2 && c + 2 * kLanes <= inner) whole(Vectors<2>(), c), c += 2 * kLanes;
#endif
  for (; c + kLanes <= inner; c += kLanes) whole(Vectors<1>(), c);
  if (c < inner) rest(c, static_cast<int>(inner - c));
}

// Rows first..end-1 of y; a row is (outer, window).
void average_windows(const AdaptiveShape& s, const AdaptiveRange<int64_t>* windows, const float* x, float* y,
                     int64_t first, int64_t end) {
  const int64_t inner = s.inner;
  const float *x_end = x + s.inputs(), *y_end = y + end * inner;
  int64_t outer = first / s.windows, window = first % s.windows;
  for (int64_t row = first; row < end; ++row) {
    const int64_t rows = windows[window].end - windows[window].first;
    const float* from = x + (outer * s.size + windows[window].first) * inner;
    float* to = y + row * inner;
    const F32 count(static_cast<float>(rows));
    for_each_vectors<4>(
        inner,
        [=](auto vectors, int64_t c) __attribute__((always_inline)) {
          constexpr int n = decltype(vectors)::value;
          F32 sum[n];
          for (F32& each : sum) each = F32(0.0f);
          for (int64_t i = 0; i < rows; ++i) {
            RT_UNROLL
            for (int g = 0; g < n; ++g) sum[g] = sum[g] + load(from + i * inner + c + g * kLanes);
          }
          for (int g = 0; g < n; ++g) store(sum[g] / count, to + c + g * kLanes);
        },
        [=](int64_t c, int lanes) __attribute__((always_inline)) {
          F32 sum(0.0f);
          for (int64_t i = 0; i < rows; ++i) sum = sum + load_before(from + i * inner + c, lanes, x_end);
          store_before(sum / count, to + c, lanes, y_end);
        });
    if (++window == s.windows) window = 0, ++outer;
  }
}

// The shares of rows first..end-1 of dy: what each element of a window gets.
void average_shares(const AdaptiveShape& s, const AdaptiveRange<int64_t>* windows, const float* dy, float* shares,
                    int64_t first, int64_t end) {
  const int64_t inner = s.inner;
  const float *dy_end = dy + s.outputs(), *shares_end = shares + end * inner;
  int64_t window = first % s.windows;
  for (int64_t row = first; row < end; ++row) {
    const F32 count(static_cast<float>(windows[window].end - windows[window].first));
    const float* from = dy + row * inner;
    float* to = shares + row * inner;
    for (int64_t c = 0; c < inner; c += kLanes) {
      const int lanes = static_cast<int>(std::min<int64_t>(kLanes, inner - c));
      store_before(F32(0.0f) + load_before(from + c, lanes, dy_end) / count, to + c, lanes, shares_end);
    }
    if (++window == s.windows) window = 0;
  }
}

// Rows first..end-1 of dx; a row is (outer, element). `after`: what is added to stands in `before`.
template <bool after>
RT_INLINE void add_shares(const AdaptiveShape& s, const AdaptiveCover<int64_t>* covers, const float* shares,
                          const float* before, float* dx, int64_t first, int64_t end) {
  const int64_t inner = s.inner;
  const float *shares_end = shares + s.outputs(), *before_end = after ? before + s.inputs() : nullptr,
              *dx_end = dx + end * inner;
  int64_t outer = first / s.size, element = first % s.size;
  for (int64_t row = first; row < end; ++row) {
    const AdaptiveCover<int64_t> cover = covers[element];
    const int64_t count = cover.count();
    const float *from = shares + outer * s.windows * inner, *base = after ? before + row * inner : nullptr;
    float* to = dx + row * inner;
    for_each_vectors<4>(
        inner,
        [=](auto vectors, int64_t c) __attribute__((always_inline)) {
          constexpr int n = decltype(vectors)::value;
          F32 sum[n];
          for (int g = 0; g < n; ++g) sum[g] = after ? load(base + c + g * kLanes) : F32(0.0f);
          for (int64_t k = 0; k < count; ++k) {
            const float* share = from + cover.window(k) * inner + c;
            RT_UNROLL
            for (int g = 0; g < n; ++g) sum[g] = sum[g] + load(share + g * kLanes);
          }
          for (int g = 0; g < n; ++g) store(sum[g], to + c + g * kLanes);
        },
        [=](int64_t c, int lanes) __attribute__((always_inline)) {
          F32 sum = after ? load_before(base + c, lanes, before_end) : F32(0.0f);
          for (int64_t k = 0; k < count; ++k)
            sum = sum + load_before(from + cover.window(k) * inner + c, lanes, shares_end);
          store_before(sum, to + c, lanes, dx_end);
        });
    if (++element == s.size) element = 0, ++outer;
  }
}
void add_average_shares(const AdaptiveShape& s, const AdaptiveCover<int64_t>* covers, const float* shares,
                        const float* before, float* dx, int64_t first, int64_t end) {
  if (before) return add_shares<true>(s, covers, shares, before, dx, first, end);
  add_shares<false>(s, covers, shares, before, dx, first, end);
}

// The best so far of a vector, and its place in the window.
struct Winner {
  F32 value;
  I32 slot;

  // `next` at `place` wins if it is greater, or the first NaN.
  RT_INLINE void compare(F32 next, int64_t place) {
    const Mask wins = both(equal(value, value), opposite(less_equal(next, value)));
    value = select(wins, next, value);
    slot = select(wins, I32(static_cast<int32_t>(place)), slot);
  }
};

// Rows first..end-1 of y and of the index; a row is (outer, window).
template <class Index>
RT_INLINE void max_windows(const AdaptiveShape& s, const AdaptiveRange<int64_t>* windows, const float* x, float* y,
                           Index* index, int64_t first, int64_t end) {
  const int64_t inner = s.inner;
  const float *x_end = x + s.inputs(), *y_end = y + end * inner;
  const Index* index_end = index + end * inner;
  int64_t outer = first / s.windows, window = first % s.windows;
  for (int64_t row = first; row < end; ++row) {
    const int64_t rows = windows[window].end - windows[window].first;
    const float* from = x + (outer * s.size + windows[window].first) * inner;
    float* to = y + row * inner;
    Index* slot_to = index + row * inner;
    for_each_vectors<2>(
        inner,
        [=](auto vectors, int64_t c) __attribute__((always_inline)) {
          constexpr int n = decltype(vectors)::value;
          Winner best[n];
          for (int g = 0; g < n; ++g) best[g] = {load(from + c + g * kLanes), I32(0)};
          for (int64_t i = 1; i < rows; ++i) {
            RT_UNROLL
            for (int g = 0; g < n; ++g) best[g].compare(load(from + i * inner + c + g * kLanes), i);
          }
          for (int g = 0; g < n; ++g)
            store(best[g].value, to + c + g * kLanes), store_int(best[g].slot, slot_to + c + g * kLanes);
        },
        [=](int64_t c, int lanes) __attribute__((always_inline)) {
          Winner best{load_before(from + c, lanes, x_end), I32(0)};
          for (int64_t i = 1; i < rows; ++i) best.compare(load_before(from + i * inner + c, lanes, x_end), i);
          store_before(best.value, to + c, lanes, y_end);
          store_index(best.slot, slot_to + c, lanes, index_end);
        });
    if (++window == s.windows) window = 0, ++outer;
  }
}
void max_windows_u8(const AdaptiveShape& s, const AdaptiveRange<int64_t>* windows, const float* x, float* y,
                    uint8_t* index, int64_t first, int64_t end) {
  max_windows(s, windows, x, y, index, first, end);
}
void max_windows_i32(const AdaptiveShape& s, const AdaptiveRange<int64_t>* windows, const float* x, float* y,
                     int32_t* index, int64_t first, int64_t end) {
  max_windows(s, windows, x, y, index, first, end);
}

// What a window gives to its element `slot`.
RT_INLINE F32 won_share(F32 dy, I32 winner, int64_t slot) {
  return select(equal(winner, I32(static_cast<int32_t>(slot))), F32(0.0f) + dy, F32(0.0f));
}

// Rows first..end-1 of dx; a row is (outer, element).
template <bool after, class Index>
RT_INLINE void add_won(const AdaptiveShape& s, const AdaptiveRange<int64_t>* windows,
                       const AdaptiveCover<int64_t>* covers, const float* dy, const Index* index, const float* before,
                       float* dx, int64_t first, int64_t end) {
  const int64_t inner = s.inner;
  const float *dy_end = dy + s.outputs(), *before_end = after ? before + s.inputs() : nullptr,
              *dx_end = dx + end * inner;
  const Index* index_end = index + s.outputs();
  int64_t outer = first / s.size, element = first % s.size;
  for (int64_t row = first; row < end; ++row) {
    const AdaptiveCover<int64_t> cover = covers[element];
    const int64_t count = cover.count(), start = outer * s.windows;
    const float* base = after ? before + row * inner : nullptr;
    float* to = dx + row * inner;
    for_each_vectors<4>(
        inner,
        [=](auto vectors, int64_t c) __attribute__((always_inline)) {
          constexpr int n = decltype(vectors)::value;
          F32 sum[n];
          for (int g = 0; g < n; ++g) sum[g] = after ? load(base + c + g * kLanes) : F32(0.0f);
          for (int64_t k = 0; k < count; ++k) {
            const int64_t window = cover.window(k), from = (start + window) * inner + c;
            const int64_t slot = element - windows[window].first;
            RT_UNROLL
            for (int g = 0; g < n; ++g)
              sum[g] = sum[g] + won_share(load(dy + from + g * kLanes), load_int(index + from + g * kLanes), slot);
          }
          for (int g = 0; g < n; ++g) store(sum[g], to + c + g * kLanes);
        },
        [=](int64_t c, int lanes) __attribute__((always_inline)) {
          F32 sum = after ? load_before(base + c, lanes, before_end) : F32(0.0f);
          for (int64_t k = 0; k < count; ++k) {
            const int64_t window = cover.window(k), from = (start + window) * inner + c;
            sum = sum + won_share(load_before(dy + from, lanes, dy_end), load_index(index + from, lanes, index_end),
                                  element - windows[window].first);
          }
          store_before(sum, to + c, lanes, dx_end);
        });
    if (++element == s.size) element = 0, ++outer;
  }
}
void add_won_u8(const AdaptiveShape& s, const AdaptiveRange<int64_t>* windows, const AdaptiveCover<int64_t>* covers,
                const float* dy, const uint8_t* index, const float* before, float* dx, int64_t first, int64_t end) {
  if (before) return add_won<true>(s, windows, covers, dy, index, before, dx, first, end);
  add_won<false>(s, windows, covers, dy, index, before, dx, first, end);
}
void add_won_i32(const AdaptiveShape& s, const AdaptiveRange<int64_t>* windows, const AdaptiveCover<int64_t>* covers,
                 const float* dy, const int32_t* index, const float* before, float* dx, int64_t first, int64_t end) {
  if (before) return add_won<true>(s, windows, covers, dy, index, before, dx, first, end);
  add_won<false>(s, windows, covers, dy, index, before, dx, first, end);
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
RT_EXPORT_KERNEL(adaptive_average_table, average_windows);
RT_EXPORT_KERNEL(adaptive_shares_table, average_shares);
RT_EXPORT_KERNEL(adaptive_add_table, add_average_shares);
RT_EXPORT_KERNEL(adaptive_max_u8, max_windows_u8);
RT_EXPORT_KERNEL(adaptive_max_i32, max_windows_i32);
RT_EXPORT_KERNEL(adaptive_won_u8, add_won_u8);
RT_EXPORT_KERNEL(adaptive_won_i32, add_won_i32);

void adaptive_average_forward(const AdaptiveShape& shape, const float* x, float* y, PoolDone done) {
  const auto kernel = adaptive_average_table.get();
  const auto windows = adaptive_windows(shape);
  run_row_pieces(shape.outer * shape.windows, shape.inner, shape.longest() * shape.inner, done,
                 [&](int64_t first, int64_t end) { kernel(shape, windows.data(), x, y, first, end); });
}

void adaptive_average_backward(const AdaptiveShape& shape, const float* dy, const float* before, float* shares,
                               float* dx, PoolDone done) {
  const auto make = adaptive_shares_table.get();
  const auto add = adaptive_add_table.get();
  const auto windows = adaptive_windows(shape);
  const auto covers = adaptive_covers(shape);
  run_row_pieces(shape.outer * shape.windows, shape.inner, 0, nullptr,
                 [&](int64_t first, int64_t end) { make(shape, windows.data(), dy, shares, first, end); });
  run_row_pieces(shape.outer * shape.size, shape.inner, 0, done,
                 [&](int64_t first, int64_t end) { add(shape, covers.data(), shares, before, dx, first, end); });
}

namespace {

template <class Index>
auto max_kernel(const Index*) {
  if constexpr (sizeof(Index) == 1)
    return adaptive_max_u8.get();
  else
    return adaptive_max_i32.get();
}
template <class Index>
auto won_kernel(const Index*) {
  if constexpr (sizeof(Index) == 1)
    return adaptive_won_u8.get();
  else
    return adaptive_won_i32.get();
}

}  // namespace

template <class Index>
void adaptive_max_forward(const AdaptiveShape& shape, const float* x, float* y, Index* index) {
  const auto kernel = max_kernel(index);
  const auto windows = adaptive_windows(shape);
  run_row_pieces(shape.outer * shape.windows, shape.inner, shape.longest() * shape.inner, nullptr,
                 [&](int64_t first, int64_t end) { kernel(shape, windows.data(), x, y, index, first, end); });
}

template <class Index>
void adaptive_max_backward(const AdaptiveShape& shape, const float* dy, const Index* index, const float* before,
                           float* dx, PoolDone done) {
  const auto kernel = won_kernel(index);
  const auto windows = adaptive_windows(shape);
  const auto covers = adaptive_covers(shape);
  run_row_pieces(shape.outer * shape.size, shape.inner, 0, done, [&](int64_t first, int64_t end) {
    kernel(shape, windows.data(), covers.data(), dy, index, before, dx, first, end);
  });
}

template void adaptive_max_forward(const AdaptiveShape&, const float*, float*, uint8_t*);
template void adaptive_max_forward(const AdaptiveShape&, const float*, float*, int32_t*);
template void adaptive_max_backward(const AdaptiveShape&, const float*, const uint8_t*, const float*, float*, PoolDone);
template void adaptive_max_backward(const AdaptiveShape&, const float*, const int32_t*, const float*, float*, PoolDone);
}  // namespace retrace
#endif
