#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/cast/cast_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd.h"

RT_TARGET_BEGIN

// As converted() of retrace/base/convert.h makes them.
void cast_f32_to_i32(const float* x, int32_t* y, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store_int(truncate_to_int(load(x + i)), y + i);
  alignas(64) int32_t last[kLanes];
  store_int(truncate_to_int(load_part(x + i, static_cast<int>(count - i))), last);
  for (int l = 0; i + l < count; ++l) y[i + l] = last[l];
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {

RT_EXPORT_KERNEL(cast_f32_to_i32_table, cast_f32_to_i32);

}  // namespace retrace
#endif
