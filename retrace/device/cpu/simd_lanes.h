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
RT_INLINE F32 larger(F32 a, F32 b) { return at_least(a, b); }
#if RT_SIMD_SCALAR
// f(lanes l and l+8), then l+4, l+2, l+1.
template <class F>
RT_INLINE_VECTORS float fold_lanes(F32 v, F f) {
  float lane[kLanes];
  store(v, lane);
  for (int half = 8; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lane[l] = f(lane[l], lane[l + half]);
  return lane[0];
}
template <class F>
RT_INLINE_VECTORS F32 fold_rows(const F32* rows, F f) {
  float folded[kLanes];
  for (int row = 0; row < kLanes; ++row) folded[row] = fold_lanes(rows[row], f);
  return load(folded);
}
struct AddLanes {
  RT_INLINE float operator()(float a, float b) const { return a + b; }
};
struct LargerLanes {
  RT_INLINE float operator()(float a, float b) const { return a < b ? b : a; }
};
#else
using TagF4 = hn::CappedTag<float, 4>;
// Lanes l (below 4) with l+8, and l+4 with l+12, then both.
template <class F>
RT_INLINE hn::Vec<TagF4> fold_quarters(F32 v, F f) {
#if HWY_TARGET == HWY_NEON
  return f(f(v.r[0], v.r[2]), f(v.r[1], v.r[3]));
#else
  const hn::CappedTag<float, 8> eight;
#if HWY_TARGET == HWY_AVX3
  const auto half = f(hn::LowerHalf(eight, v.r[0]), hn::UpperHalf(eight, v.r[0]));
#else
  const auto half = f(v.r[0], v.r[1]);
#endif
  return f(hn::LowerHalf(TagF4(), half), hn::UpperHalf(TagF4(), half));
#endif
}
// f(lanes l and l+8), then l+4, l+2, l+1.
template <class F>
RT_INLINE float fold_lanes(F32 v, F f) {
  const auto four = fold_quarters(v, f);
  const auto two = f(four, hn::Shuffle1032(four));
  return hn::GetLane(f(two, hn::Shuffle2301(two)));
}
// Lanes l and l+8, then l+4, of four vectors each: block b of 4 lanes holds what is left of row 4 b + first.
template <class F>
RT_INLINE F32 fold_to_blocks(const F32* rows, int first, F f) {
  F32 v;
#if HWY_TARGET == HWY_AVX3
  const TagF d;
  const auto fold_halves = [d, f](F32 a, F32 b) __attribute__((always_inline)) {
    return f(hn::ConcatLowerLower(d, b.r[0], a.r[0]), hn::ConcatUpperUpper(d, b.r[0], a.r[0]));
  };
  const auto a = fold_halves(rows[first], rows[first + 8]), b = fold_halves(rows[first + 4], rows[first + 12]);
  v.r[0] = f(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a), hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)));
#elif HWY_TARGET == HWY_AVX2
  RT_EACH(i) {
    const F32 low = rows[8 * i + first], high = rows[8 * i + first + 4];
    const auto a = f(low.r[0], low.r[1]), b = f(high.r[0], high.r[1]);
    v.r[i] = f(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a), hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)));
  }
#else
  RT_EACH(i) v.r[i] = fold_quarters(rows[4 * i + first], f);
#endif
  return v;
}
// fold_lanes of 16 vectors, side by side, by a few instructions each.
template <class F>
RT_INLINE F32 fold_rows(const F32* rows, F f) {
  const hn::Repartition<double, TagF> pairs;
  const F32 p = fold_to_blocks(rows, 0, f), r = fold_to_blocks(rows, 1, f), q = fold_to_blocks(rows, 2, f),
            s = fold_to_blocks(rows, 3, f);
  const auto fold_pairs = [pairs, f](RawF a, RawF b) __attribute__((always_inline)) {
    const auto x = hn::BitCast(pairs, a), y = hn::BitCast(pairs, b);
    return f(hn::BitCast(TagF(), hn::InterleaveLower(pairs, x, y)),
             hn::BitCast(TagF(), hn::InterleaveUpper(pairs, x, y)));
  };
  F32 folded;
  RT_EACH(i) {
    const auto x = fold_pairs(p.r[i], q.r[i]), y = fold_pairs(r.r[i], s.r[i]);
    folded.r[i] = f(hn::OddEven(hn::Shuffle2301(y), x), hn::OddEven(y, hn::Shuffle2301(x)));
  }
  return folded;
}
struct AddLanes {
  template <class V>
  RT_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};
struct LargerLanes {
  template <class V>
  RT_INLINE V operator()(V a, V b) const {
    return hn::IfThenElse(hn::Lt(a, b), b, a);
  }
};
#endif

RT_INLINE float sum_lanes(F32 v) { return fold_lanes(v, AddLanes()); }
// sum_lanes of 16 vectors.
RT_INLINE F32 sums_of_rows(const F32* rows) { return fold_rows(rows, AddLanes()); }
// The largest lane, where none is a NaN; of 16 vectors.
RT_INLINE float largest_lane(F32 v) { return fold_lanes(v, LargerLanes()); }
RT_INLINE F32 largest_of_rows(const F32* rows) { return fold_rows(rows, LargerLanes()); }

// The first lane of the mask that is set, or kLanes.
RT_INLINE int64_t first_lane(Mask m) {
#if RT_SIMD_SCALAR
  for (int i = 0; i < kLanes; ++i)
    if (m.r[i / kRegisterLanes][i % kRegisterLanes] != 0) return i;
#else
  for (int i = 0; i < kRegisters; ++i)
    if (const auto lane = hn::FindFirstTrue(TagF(), m.r[i]); lane >= 0) return i * kRegisterLanes + lane;
#endif
  return kLanes;
}

RT_TARGET_END
#endif
