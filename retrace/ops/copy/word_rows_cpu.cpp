// Rows of words that are copied backwards, and many short rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/copy/word_rows_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include <algorithm>

#include "retrace/device/cpu/simd.h"

RT_TARGET_BEGIN

// to[i] = from[-i] of each row.
void reverse_words(const uint32_t* from, int64_t from_stride, uint32_t* to, int64_t to_stride, int64_t rows,
                   int64_t count) {
  for (; rows > 0; --rows, from += from_stride, to += to_stride) {
    int64_t i = 0;
#if !RT_SIMD_SCALAR
    const hn::CappedTag<uint32_t, 16> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Reverse(d, hn::LoadU(d, from - i - (lanes - 1))), d, to + i);
#endif
    for (; i < count; ++i) to[i] = from[-i];
  }
}

// Rows of 16 words or more, `from_stride` and `to_stride` apart.
void copy_short_rows(const uint32_t* from, int64_t from_stride, uint32_t* to, int64_t to_stride, int64_t rows,
                     int64_t count) {
#if RT_SIMD_SCALAR
  for (; rows > 0; --rows, from += from_stride, to += to_stride) std::copy_n(from, count, to);
#else
  const hn::CappedTag<uint32_t, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), last = count - lanes;
  for (; rows > 0; --rows, from += from_stride, to += to_stride) {
    const auto end = hn::LoadU(d, from + last);
    for (int64_t i = 0; i < last; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    hn::StoreU(end, d, to + last);
  }
#endif
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
RT_EXPORT_KERNEL(reverse_words_table, reverse_words);
RT_EXPORT_KERNEL(copy_short_rows_table, copy_short_rows);
}  // namespace retrace
#endif
