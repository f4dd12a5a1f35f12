#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/softmax/softmax_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd.h"

// After simd.h: exp on F32.
#include "retrace/base/elementary.h"
#include "retrace/ops/reduce/reduce_row.h"

RT_TARGET_BEGIN

namespace {

// A NaN may be missed: it makes the sum NaN, and with it every result. The sign of a zero reaches no result either.
RT_INLINE float largest(const float* x, int64_t count) {
  constexpr int kParts = 4;  // whose comparisons overlap
  F32 best[kParts];
  for (F32& part : best) part = F32(-__builtin_huge_valf());
  int64_t i = 0;
  for (; i + kParts * kLanes <= count; i += kParts * kLanes) {
    RT_UNROLL
    for (int k = 0; k < kParts; ++k) best[k] = larger(best[k], load(x + i + k * kLanes));
  }
  for (; i + kLanes <= count; i += kLanes) best[0] = larger(best[0], load(x + i));
  if (const int rest = static_cast<int>(count - i); rest > 0) {
    alignas(64) static constexpr int32_t lane[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    best[1] = larger(best[1], select(less(load_int(lane), I32(rest)), load_part(x + i, rest), best[1]));
  }
  return largest_lane(larger(larger(best[0], best[1]), larger(best[2], best[3])));
}

// e / total, +0 below the smallest normal number.
RT_INLINE F32 share(F32 e, F32 total) {
  const F32 quotient = e / total;
  return select(less(quotient, F32(0x1p-126f)), F32(0.0f), quotient);
}

template <class F>
RT_INLINE void each_vector(const float* x, float* y, int64_t count, F f) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(f(load(x + i)), y + i);
  if (const int rest = static_cast<int>(count - i); rest > 0) store_part(f(load_part(x + i, rest)), y + i, rest);
}

}  // namespace

// One row; y may be x.
void softmax_row(const float* x, float* y, int64_t count) {
  if (count == 0) return;
  const F32 most(largest(x, count));
  each_vector(x, y, count, [most](F32 v) __attribute__((always_inline)) { return exp(v - most); });
  const F32 total(sum_lanes(row_root<RowSum, kRowLevels>(y, count).lanes));
  each_vector(y, y, count, [total](F32 v) __attribute__((always_inline)) { return share(v, total); });
}

// `columns` lines (at most 16) that lie side by side, of `count` elements (at most a block) `step` apart; y may be x.
void softmax_columns(const float* x, float* y, int64_t count, int64_t step, int columns) {
  F32 most(-__builtin_huge_valf());
  for (int64_t i = 0; i < count; ++i) most = larger(most, load_part(x + i * step, columns));
  F32 lane[kLanes];
  for (F32& sum : lane) sum = F32(0.0f);
  for (int64_t i = 0; i < count; ++i) {
    const F32 e = exp(load_part(x + i * step, columns) - most);
    store_part(e, y + i * step, columns);
    lane[i % kLanes] = lane[i % kLanes] + e;
  }
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
  for (int64_t i = 0; i < count; ++i)
    store_part(share(load_part(y + i * step, columns), lane[0]), y + i * step, columns);
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {

RT_EXPORT_KERNEL(softmax_columns_table, softmax_columns);
RT_EXPORT_KERNEL(softmax_row_table, softmax_row);

}  // namespace retrace
#endif
