// Rows of 2 to 4 elements, one behind the other, 16 at a time: their elements as vectors.
#if defined(RETRACE_OPS_REDUCE_SHORT_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_REDUCE_SHORT_H
#undef RETRACE_OPS_REDUCE_SHORT_H
#else
#define RETRACE_OPS_REDUCE_SHORT_H
#endif

#include "retrace/device/cpu/simd.h"
#include "retrace/ops/reduce/reduction.h"

RT_TARGET_BEGIN

// Elements of an array, or of products, from x on.
RT_INLINE F32 load_elements(const float* x) { return load(x); }
RT_INLINE F32 load_elements(Factors x) { return load(x.a) * load(x.b); }
RT_INLINE F32 load_elements(const float* x, int n) { return load_part(x, n); }
RT_INLINE F32 load_elements(Factors x, int n) { return load_part(x.a, n) * load_part(x.b, n); }
RT_INLINE float element_at(const float* x) { return *x; }
RT_INLINE float element_at(Factors x) { return *x.a * *x.b; }
RT_INLINE int64_t room_of(const float* x, const float* end) { return end - x; }
RT_INLINE int64_t room_of(Factors x, const float* end) { return end - x.a; }

#if RT_SIMD_SCALAR
template <class F>
RT_INLINE bool fold_short_rows(const float*, int64_t, F, float*) {
  return false;
}
#else
template <int count, class F>
RT_INLINE void fold_rows_of(const float* x, F fold, float* out) {
  const TagF d;
  const RawF zero = hn::Zero(d);
  RT_EACH(i) {
    const float* const from = x + i * kRegisterLanes * count;
    RawF all[4] = {zero, zero, zero, zero};
    if constexpr (count == 2)
      hn::LoadInterleaved2(d, from, all[0], all[1]);
    else if constexpr (count == 3)
      hn::LoadInterleaved3(d, from, all[0], all[1], all[2]);
    else
      hn::LoadInterleaved4(d, from, all[0], all[1], all[2], all[3]);
    RT_UNROLL
    for (int k = 0; k < 4; ++k) all[k] = hn::Add(zero, all[k]);  // sums begin with +0
    hn::StoreU(fold(all), d, out + i * kRegisterLanes);
  }
}

// out[r] = fold of +0 plus each of the `count` elements of row r, and +0 for those up to four; false, and nothing is
// written, for other counts than 2 to 4.
template <class F>
RT_INLINE bool fold_short_rows(const float* x, int64_t count, F fold, float* out) {
  if (count == 2) return fold_rows_of<2>(x, fold, out), true;
  if (count == 3) return fold_rows_of<3>(x, fold, out), true;
  if (count == 4) return fold_rows_of<4>(x, fold, out), true;
  return false;
}
#endif
template <class F>
RT_INLINE bool fold_short_rows(Factors, int64_t, F, float*) {
  return false;
}

RT_TARGET_END
#endif
