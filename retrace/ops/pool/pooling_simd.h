// Vectors over channels for pooling kernels. Channel counts that are no multiple of 16 stay fast: whole vectors are
// read and written wherever that stays inside of the array and what is written in excess is overwritten later.
#if defined(RETRACE_OPS_POOLING_SIMD_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_POOLING_SIMD_H
#undef RETRACE_OPS_POOLING_SIMD_H
#else
#define RETRACE_OPS_POOLING_SIMD_H
#endif

#include "retrace/device/cpu/simd.h"
#include "retrace/ops/pool/pooling.h"

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
  if (end - p >= kLanes) return load_int(p);
  alignas(64) int32_t lane[kLanes] = {};
  for (int i = 0; i < n; ++i) lane[i] = p[i];
  return load_int(lane);
}
template <class Index>
RT_INLINE void store_index(I32 v, Index* p, int n, const Index* end) {
  if (end - p >= kLanes) return store_int(v, p);
  alignas(64) int32_t lane[kLanes];
  store_int(v, lane);
  for (int i = 0; i < n; ++i) p[i] = static_cast<Index>(lane[i]);
}

// Division of a sum by the number of its terms: by a power of two it is a multiplication, which gives the same bits.
struct MeanOf {
  F32 count, part;
  bool exact;

  explicit MeanOf(int64_t n)
      : count(static_cast<float>(n)), part(1.0f / static_cast<float>(n)), exact((n & (n - 1)) == 0) {}
  RT_INLINE F32 operator()(F32 sum) const { return exact ? sum * part : sum / count; }
};

// 16 elements of which eight lie at `low` and eight at `high`: with Halves<false> all lie at `low`.
template <bool apart>
struct Halves {
  RT_INLINE static F32 read(const float* low, const float* high) {
    if constexpr (apart)
      return load_halves(low, high);
    else
      return load(low);
  }
  RT_INLINE static void write(F32 v, float* low, float* high) {
    if constexpr (apart)
      store_halves(v, low, high);
    else
      store(v, low);
  }
};

// Windows that tile the image (tiles_image): body(at, low, high, halves) for each 16 elements, from `at`, of a row of
// the pooled image. Lanes 0-7 belong to the windows that begin at `low` in a row of the image, lanes 8-15 to those at
// `high`: with 8 channels they are neighbours, and else `halves` reads and writes all of them at `low`.
template <class Body>
RT_INLINE void for_each_tile(const PoolShape& s, Body body) {
  const int64_t channels = s.channels, width = s.window.width * channels, windows = s.window.out_width();
  if (channels == 8) {
    for (int64_t next = 0; next < windows; next += 2) {
      const int64_t ox = std::min(next, windows - 2);  // an odd one at the end: the pair before is made again
      body(ox * channels, ox * width, ox * width + width, Halves<true>());
    }
  } else {
    for (int64_t ox = 0; ox < windows; ++ox)
      for (int64_t c = 0; c < channels; c += kLanes)
        body(ox * channels + c, ox * width + c, ox * width + c + kLanes / 2, Halves<false>());
  }
}

RT_TARGET_END
#endif
