#pragma once
// Tiles whose elements are bytes in memory (masks, images): there and back.

#include <cstdint>

#include "retrace/device/cpu/dispatch.h"

namespace retrace {

extern const KernelTable<void (*)(const uint8_t* from, float* to, int64_t count)> bytes_to_numbers_table;
// 1 where the number differs from 0.
extern const KernelTable<void (*)(const float* from, uint8_t* to, int64_t count)> numbers_to_truth_table;

}  // namespace retrace
