// Tiles whose elements are bytes in memory (masks, images) or one number.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/plan/programs/tile_bytes_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd.h"
#include "retrace/plan/programs/tile_bytes.h"

RT_TARGET_BEGIN

void bytes_to_numbers(const uint8_t* from, float* to, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(load_bytes(from + i), to + i);
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

void numbers_to_truth(const float* from, uint8_t* to, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store_truth(load(from + i), to + i);
  for (; i < count; ++i) to[i] = from[i] != 0;
}

void fill(float value, float* to, int64_t count) {
  const F32 all(value);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(all, to + i);
  if (i < count) store_part(all, to + i, static_cast<int>(count - i));
}

void fill_rows(const float* from, int64_t stride, int64_t rows, int64_t run, float* to, int64_t room) {
  const int64_t padded = (run + kLanes - 1) / kLanes * kLanes;
  for (; rows > 0 && room >= padded; --rows, from += stride, to += run, room -= run) {
    const F32 all(*from);
    for (int64_t i = 0; i < run; i += kLanes) store(all, to + i);
  }
  for (; rows > 0; --rows, from += stride, to += run) fill(*from, to, run);
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
RT_EXPORT_KERNEL(bytes_to_numbers_table, bytes_to_numbers);
RT_EXPORT_KERNEL(numbers_to_truth_table, numbers_to_truth);
RT_EXPORT_KERNEL(fill_table, fill);
RT_EXPORT_KERNEL(fill_rows_table, fill_rows);
}  // namespace retrace
#endif
