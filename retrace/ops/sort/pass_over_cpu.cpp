#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/sort/pass_over_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd_lanes.h"

RT_TARGET_BEGIN

// Whether x need not come after `last`: it is before it in this order, or one of the two is NaN.
RT_INLINE Mask may_precede(F32 x, F32 last, bool descending) {
  return opposite(descending ? less_equal(x, last) : less_equal(last, x));
}

int64_t pass_over(const float* x, int64_t at, int64_t size, float last, bool descending) {
  const F32 bound(last);
  constexpr int64_t kBlock = 4 * kLanes;
  for (; at + kBlock <= size; at += kBlock) {
    Mask found[4];
    for (int i = 0; i < 4; ++i) found[i] = may_precede(load(x + at + i * kLanes), bound, descending);
    if (any(either(either(found[0], found[1]), either(found[2], found[3])))) break;
  }
  for (; at + kLanes <= size; at += kLanes)
    if (const int64_t lane = first_lane(may_precede(load(x + at), bound, descending)); lane < kLanes) return at + lane;
  while (at < size && (descending ? x[at] <= last : x[at] >= last)) ++at;
  return at;
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
RT_EXPORT_KERNEL(pass_over_table, pass_over);
}  // namespace retrace
#endif
