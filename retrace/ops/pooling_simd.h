// Vectors over channels for pooling kernels. Channel counts that are no multiple of 16 stay fast: whole vectors are
// read and written wherever that stays inside of the array and what is written in excess is overwritten later.
#if defined(RETRACE_OPS_POOLING_SIMD_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_POOLING_SIMD_H
#undef RETRACE_OPS_POOLING_SIMD_H
#else
#define RETRACE_OPS_POOLING_SIMD_H
#endif

#include "retrace/device/cpu/simd.h"

RT_TARGET_BEGIN

// The first n lanes from p; the others hold anything. `end` is the end of the array.
RT_INLINE F32 load_before(const float* p, int n, const float* end) {
  return end - p >= kLanes ? load(p) : load_part(p, n);
}
// The first n lanes to p; what follows, up to `end`, may be overwritten: the caller writes it afterwards.
RT_INLINE void store_before(F32 v, float* p, int n, const float* end) {
  if (end - p >= kLanes) return store(v, p);
  store_part(v, p, n);
}

template <class Index>
RT_INLINE I32 load_index(const Index* p, int n, const Index* end) {
  alignas(64) int32_t lane[kLanes] = {};
  if (end - p >= kLanes)
    for (int i = 0; i < kLanes; ++i) lane[i] = p[i];
  else
    for (int i = 0; i < n; ++i) lane[i] = p[i];
  return load_int(lane);
}
template <class Index>
RT_INLINE void store_index(I32 v, Index* p, int n, const Index* end) {
  alignas(64) int32_t lane[kLanes];
  store_int(v, lane);
  if (end - p >= kLanes)
    for (int i = 0; i < kLanes; ++i) p[i] = static_cast<Index>(lane[i]);
  else
    for (int i = 0; i < n; ++i) p[i] = static_cast<Index>(lane[i]);
}

RT_TARGET_END
#endif
