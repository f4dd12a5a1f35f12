// Maxima over the 16 lanes of a vector, and sums in the order of docs/numerics.md 3: lanes l and l+8, then l+4, l+2,
// l+1 are added.
#if defined(RETRACE_DEVICE_CPU_SIMD_LANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_DEVICE_CPU_SIMD_LANES_H
#undef RETRACE_DEVICE_CPU_SIMD_LANES_H
#else
#define RETRACE_DEVICE_CPU_SIMD_LANES_H
#endif

#include "retrace/device/cpu/simd.h"

RT_TARGET_BEGIN

// The larger one of each lane; a NaN in `b` is passed over.
RT_INLINE F32 larger(F32 a, F32 b) { return select(less(a, b), b, a); }
// The largest lane, where none is a NaN.
RT_INLINE float largest_lane(F32 v) {
  alignas(64) float lane[kLanes];
  store(v, lane);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lane[l] = lane[l] < lane[l + half] ? lane[l + half] : lane[l];
  return lane[0];
}

#if RT_SIMD_SCALAR
RT_INLINE float sum_lanes(F32 v) {
  for (int half = 8; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) v.r[l] = v.r[l] + v.r[l + half];
  return v.r[0];
}
RT_INLINE F32 sums_of_rows(const F32* rows) {
  F32 sums;
  for (int row = 0; row < kLanes; ++row) sums.r[row] = sum_lanes(rows[row]);
  return sums;
}
#else
using TagF4 = hn::CappedTag<float, 4>;
// Lanes l (below 4) with l+8, and l+4 with l+12, then both.
RT_INLINE hn::Vec<TagF4> sum_quarters(F32 v) {
#if HWY_TARGET == HWY_NEON
  return hn::Add(hn::Add(v.r[0], v.r[2]), hn::Add(v.r[1], v.r[3]));
#else
  const hn::CappedTag<float, 8> eight;
#if HWY_TARGET == HWY_AVX3
  const auto half = hn::Add(hn::LowerHalf(eight, v.r[0]), hn::UpperHalf(eight, v.r[0]));
#else
  const auto half = hn::Add(v.r[0], v.r[1]);
#endif
  return hn::Add(hn::LowerHalf(TagF4(), half), hn::UpperHalf(TagF4(), half));
#endif
}
RT_INLINE float sum_lanes(F32 v) {
  const auto four = sum_quarters(v);
  const auto two = hn::Add(four, hn::Shuffle1032(four));
  return hn::GetLane(hn::Add(two, hn::Shuffle2301(two)));
}
// Lanes l and l+8, then l+4, of four vectors each: block b of 4 lanes holds the four partial sums of row 4 b + first.
RT_INLINE F32 fold_to_blocks(const F32* rows, int first) {
  F32 v;
#if HWY_TARGET == HWY_AVX3
  const TagF d;
  const auto add_halves = [d](F32 a, F32 b) __attribute__((always_inline)) {
    return hn::Add(hn::ConcatLowerLower(d, b.r[0], a.r[0]), hn::ConcatUpperUpper(d, b.r[0], a.r[0]));
  };
  const auto a = add_halves(rows[first], rows[first + 8]), b = add_halves(rows[first + 4], rows[first + 12]);
  v.r[0] = hn::Add(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a), hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)));
#elif HWY_TARGET == HWY_AVX2
  RT_EACH(i) {
    const F32 low = rows[8 * i + first], high = rows[8 * i + first + 4];
    const auto a = hn::Add(low.r[0], low.r[1]), b = hn::Add(high.r[0], high.r[1]);
    v.r[i] = hn::Add(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a), hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)));
  }
#else
  RT_EACH(i) v.r[i] = sum_quarters(rows[4 * i + first]);
#endif
  return v;
}
// sum_lanes of 16 vectors, side by side, by a few instructions each.
RT_INLINE F32 sums_of_rows(const F32* rows) {
  const hn::Repartition<double, TagF> pairs;
  const F32 p = fold_to_blocks(rows, 0), r = fold_to_blocks(rows, 1), q = fold_to_blocks(rows, 2),
            s = fold_to_blocks(rows, 3);
  const auto add_pairs = [pairs](RawF a, RawF b) __attribute__((always_inline)) {
    const auto x = hn::BitCast(pairs, a), y = hn::BitCast(pairs, b);
    return hn::Add(hn::BitCast(TagF(), hn::InterleaveLower(pairs, x, y)),
                   hn::BitCast(TagF(), hn::InterleaveUpper(pairs, x, y)));
  };
  F32 sums;
  RT_EACH(i) {
    const auto x = add_pairs(p.r[i], q.r[i]), y = add_pairs(r.r[i], s.r[i]);
    sums.r[i] = hn::Add(hn::OddEven(hn::Shuffle2301(y), x), hn::OddEven(y, hn::Shuffle2301(x)));
  }
  return sums;
}
#endif

RT_TARGET_END
#endif
