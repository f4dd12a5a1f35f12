#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/softmax/softmax_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd.h"

// After simd.h: exp on F32.
#include "retrace/base/elementary.h"
#include "retrace/ops/reduce/reduce_row.h"

RT_TARGET_BEGIN

namespace {

RT_INLINE_VECTORS F32 power(F32 x) { return exp(x); }

// -inf behind the first n lanes.
RT_INLINE F32 first_or_none(F32 v, int n) {
  alignas(64) static constexpr int32_t lane[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return select(less(load_int(lane), I32(n)), v, F32(-__builtin_huge_valf()));
}

// The largest numbers of a row by lanes. A NaN may be missed: it makes the sum NaN, and with it every result. The sign
// of a zero reaches no result either.
RT_INLINE F32 largest_of_lanes(const float* x, int64_t count) {
  constexpr int kParts = 4;  // whose comparisons overlap
  F32 best[kParts];
  for (F32& part : best) part = F32(-__builtin_huge_valf());
  int64_t i = 0;
  for (; i + kParts * kLanes <= count; i += kParts * kLanes) {
    RT_UNROLL
    for (int k = 0; k < kParts; ++k) best[k] = larger(best[k], load(x + i + k * kLanes));
  }
  for (; i + kLanes <= count; i += kLanes) best[0] = larger(best[0], load(x + i));
  if (const int rest = static_cast<int>(count - i); rest > 0)
    best[1] = larger(best[1], first_or_none(load_part(x + i, rest), rest));
  return larger(larger(best[0], best[1]), larger(best[2], best[3]));
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

// e = power(x - highest) of a row; returns its sum by lanes. Whole vectors of e go to y, and what is left to `last`:
// memory that is written in part is slow to read again.
RT_INLINE F32 powers_of_row(const float* x, float* y, int count, F32 highest, F32& last) {
  F32 sum(0.0f);
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const F32 e = power(load(x + i) - highest);
    store(e, y + i);
    sum = sum + e;
  }
  if (i == count) return sum;
  last = power(load_part(x + i, count - i) - highest);
  return sum + first_lanes(last, count - i);
}

// 16 rows of at most a block, one behind another: what is folded across lanes is folded for all at once.
RT_INLINE void softmax_rows_of_block(const float* x, float* y, int count) {
  F32 lanes[kLanes], last[kLanes];
  for (int row = 0; row < kLanes; ++row) {
    const float* const from = x + row * count;
    lanes[row] = count <= kLanes ? first_or_none(load_part(from, count), count) : largest_of_lanes(from, count);
  }
  alignas(64) float most[kLanes], total[kLanes];
  store(largest_of_rows(lanes), most);
  for (int row = 0; row < kLanes; ++row)
    lanes[row] = powers_of_row(x + row * count, y + row * count, count, F32(most[row]), last[row]);
  store(sums_of_rows(lanes), total);
  for (int row = 0; row < kLanes; ++row) {
    const F32 of(total[row]);
    float* const to = y + row * count;
    int i = 0;
    for (; i + kLanes <= count; i += kLanes) store(share(load(to + i), of), to + i);
    if (i == 0 && row * count + kLanes <= kLanes * count)
      store(share(last[row], of), to);  // the following rows overwrite the surplus lanes
    else if (i < count)
      store_part(share(last[row], of), to + i, count - i);
  }
}

// One row; y may be x.
RT_INLINE void softmax_row(const float* x, float* y, int64_t count) {
  if (count == 0) return;
  const F32 most(largest_lane(largest_of_lanes(x, count)));
  each_vector(x, y, count, [most](F32 v) __attribute__((always_inline)) { return power(v - most); });
  const F32 total(sum_lanes(row_root<RowSum, kRowLevels>(WholeRow{y}, count).lanes));
  each_vector(y, y, count, [total](F32 v) __attribute__((always_inline)) { return share(v, total); });
}

// Lines side by side, of `count` elements `step` apart; read(p) and write(v, p) take those at one index.
template <class Read, class Write>
RT_INLINE void lines_side_by_side(const float* x, float* y, int64_t count, int64_t step, Read read, Write write) {
  F32 most(-__builtin_huge_valf());
  for (int64_t i = 0; i < count; ++i) most = larger(most, read(x + i * step));
  F32 lane[kLanes];
  for (F32& sum : lane) sum = F32(0.0f);
  for (int64_t i = 0; i < count; ++i) {
    const F32 e = power(read(x + i * step) - most);
    write(e, y + i * step);
    lane[i % kLanes] = lane[i % kLanes] + e;
  }
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
  for (int64_t i = 0; i < count; ++i) write(share(read(y + i * step), lane[0]), y + i * step);
}

}  // namespace

// Rows one behind another; y may be x.
void softmax_rows(const float* x, float* y, int64_t rows, int64_t count) {
  int64_t row = 0;
  if (count > 0 && count <= kBlock)
    for (; row + kLanes <= rows; row += kLanes)
      softmax_rows_of_block(x + row * count, y + row * count, static_cast<int>(count));
  for (; row < rows; ++row) softmax_row(x + row * count, y + row * count, count);
}

// `columns` lines (at most 16) that lie side by side, of `count` elements (at most a block) `step` apart; y may be x.
void softmax_columns(const float* x, float* y, int64_t count, int64_t step, int columns) {
  if (columns == kLanes)  // whole vectors: what is written in part is slow to read again
    return lines_side_by_side(
        x, y, count, step, [](const float* p) __attribute__((always_inline)) { return load(p); },
        [](F32 v, float* p) __attribute__((always_inline)) { store(v, p); });
  lines_side_by_side(
      x, y, count, step, [columns](const float* p) __attribute__((always_inline)) { return load_part(p, columns); },
      [columns](F32 v, float* p) __attribute__((always_inline)) { store_part(v, p, columns); });
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {

RT_EXPORT_KERNEL(softmax_columns_table, softmax_columns);
RT_EXPORT_KERNEL(softmax_rows_table, softmax_rows);

}  // namespace retrace
#endif
