// The store of a tile's last columns. Included after simd.h, once for each target as that is.
#if defined(RETRACE_DEVICE_CPU_SIMD_COLUMNS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_DEVICE_CPU_SIMD_COLUMNS_H
#undef RETRACE_DEVICE_CPU_SIMD_COLUMNS_H
#else
#define RETRACE_DEVICE_CPU_SIMD_COLUMNS_H
#endif

#include "retrace/device/cpu/simd.h"

RT_TARGET_BEGIN

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
// The first columns of a vector, 1..16 of them: its masks are made once for all rows of a tile.
struct Columns {
  hn::MFromD<TagF> first[kRegisters];
  int count;
  RT_INLINE explicit Columns(int columns) : count(columns) {
    RT_EACH(i) {
      const int left = columns - i * kRegisterLanes;
      first[i] = hn::FirstN(TagF(), static_cast<size_t>(left < 0 ? 0 : left));
    }
  }
  RT_INLINE void store_of(const F32& v, float* p) const {
    RT_EACH(i)
    if (i == 0 || count > i * kRegisterLanes) hn::BlendedStore(v.r[i], first[i], TagF(), p + i * kRegisterLanes);
  }
};
#else
struct Columns {
  int count;
  RT_INLINE explicit Columns(int columns) : count(columns) {}
  RT_INLINE void store_of(const F32& v, float* p) const {
#if RT_SIMD_SCALAR
    store_part(v, p, count);
#else  // NEON, without masked stores: others may write what follows the columns at the same time
    for (int i = 0; i < kRegisters; ++i) {
      const int left = count - i * kRegisterLanes;
      if (left <= 0) continue;
      if (left >= kRegisterLanes) {
        hn::StoreU(v.r[i], TagF(), p + i * kRegisterLanes);
        continue;
      }
      alignas(16) float lane[kRegisterLanes];
      hn::Store(v.r[i], TagF(), lane);
      for (int l = 0; l < left; ++l) p[i * kRegisterLanes + l] = lane[l];
    }
#endif
  }
};
#endif

RT_TARGET_END

#endif
