// Rows of words that are copied backwards.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/copy/reverse_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd.h"

RT_TARGET_BEGIN

// to[i] = from[-i].
void reverse_words(const uint32_t* from, uint32_t* to, int64_t count) {
  int64_t i = 0;
#if !RT_SIMD_SCALAR
  const hn::CappedTag<uint32_t, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Reverse(d, hn::LoadU(d, from - i - (lanes - 1))), d, to + i);
#endif
  for (; i < count; ++i) to[i] = from[-i];
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
RT_EXPORT_KERNEL(reverse_words_table, reverse_words);
}  // namespace retrace
#endif
