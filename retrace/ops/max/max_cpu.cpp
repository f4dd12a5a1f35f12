#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/max/max_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd.h"

RT_TARGET_BEGIN

namespace {

struct Best {
  F32 value;
  I32 index;
};

// Later positions only win by being larger, or a NaN over a number.
RT_INLINE void keep_first(Best& best, F32 v, I32 index) {
  const Mask nan_over_number = both(not_equal(v, v), equal(best.value, best.value));
  const Mask better = either(less(best.value, v), nan_over_number);
  best = {select(better, v, best.value), select(better, index, best.index)};
}

RT_INLINE bool better(float a, int32_t index_a, float b, int32_t index_b) {
  const bool first = index_a < index_b, a_nan = a != a, b_nan = b != b;
  if (a_nan || b_nan) return a_nan && (!b_nan || first);
  return a > b || (a == b && first);
}

}  // namespace

// index[c] for x[p * channels + c]; memory up to `end` may be read.
void find_column_maxima(const float* x, const float* end, int64_t positions, int64_t channels, int32_t* index) {
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int lanes = channels - c < kLanes ? static_cast<int>(channels - c) : kLanes;
    const auto at = [&](int64_t p) __attribute__((always_inline)) {
      const float* from = x + p * channels + c;
      return end - from >= kLanes ? load(from) : load_part(from, lanes);
    };
    Best best = {at(0), I32(0)};
    for (int64_t p = 1; p < positions; ++p) keep_first(best, at(p), I32(static_cast<int32_t>(p)));
    alignas(64) int32_t found[kLanes];
    store_int(best.index, found);
    for (int i = 0; i < lanes; ++i) index[c + i] = found[i];
  }
}

int32_t find_row_maximum(const float* x, int64_t count) {
  alignas(64) int32_t index[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  float value = x[0];
  int32_t where = 0;
  int64_t i = 1;
  if (count >= kLanes) {
    Best best = {load(x), load_int(index)};
    I32 at = best.index;
    for (i = kLanes; i + kLanes <= count; i += kLanes) {
      at = at + I32(kLanes);
      keep_first(best, load(x + i), at);
    }
    alignas(64) float values[kLanes];
    store(best.value, values);
    store_int(best.index, index);
    for (int l = 0; l < kLanes; ++l)
      if (better(values[l], index[l], value, where)) value = values[l], where = index[l];
  }
  for (; i < count; ++i)
    if (better(x[i], static_cast<int32_t>(i), value, where)) value = x[i], where = static_cast<int32_t>(i);
  return where;
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {

RT_EXPORT_KERNEL(find_column_maxima_table, find_column_maxima);
RT_EXPORT_KERNEL(find_row_maximum_table, find_row_maximum);

}  // namespace retrace
#endif
