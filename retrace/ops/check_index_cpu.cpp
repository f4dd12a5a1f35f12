// Whether indices exist, several at a time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/check_index_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include <algorithm>

#include "retrace/device/cpu/simd.h"

RT_TARGET_BEGIN

// The largest of values[0..count-1], and 0. (Negative indices are large ones here.)
uint32_t largest_index(const uint32_t* values, int64_t count) {
  uint32_t most = 0;
  int64_t i = 0;
#if !RT_SIMD_SCALAR
  const hn::CappedTag<uint32_t, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = hn::Max(a, hn::LoadU(d, values + i)), b = hn::Max(b, hn::LoadU(d, values + i + lanes));
    c = hn::Max(c, hn::LoadU(d, values + i + 2 * lanes)), e = hn::Max(e, hn::LoadU(d, values + i + 3 * lanes));
  }
  uint32_t each[16];
  hn::StoreU(hn::Max(hn::Max(a, b), hn::Max(c, e)), d, each);
  most = *std::max_element(each, each + lanes);
#endif
  for (; i < count; ++i) most = std::max(most, values[i]);
  return most;
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
RT_EXPORT_KERNEL(largest_index_table, largest_index);
}  // namespace retrace
#endif
