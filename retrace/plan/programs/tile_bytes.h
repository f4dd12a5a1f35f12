#pragma once
// Tiles that are no f32 in memory: bytes (masks, images) there and back, and one number for all elements.

#include <cstdint>

#include "retrace/device/cpu/dispatch.h"

namespace retrace {

extern const KernelTable<void (*)(const uint8_t* from, float* to, int64_t count)> bytes_to_numbers_table;
// 1 where the number differs from 0.
extern const KernelTable<void (*)(const float* from, uint8_t* to, int64_t count)> numbers_to_truth_table;

extern const KernelTable<void (*)(float value, float* to, int64_t count)> fill_table;

}  // namespace retrace
