#pragma once
// Tiles that are no f32 in memory: bytes (masks, images) and halves there and back, and one number for all elements.

#include <cstdint>

#include "retrace/device/cpu/dispatch.h"

namespace retrace {

extern const KernelTable<void (*)(const uint8_t* from, float* to, int64_t count)> bytes_to_numbers_table;
// 1 where the number differs from 0.
extern const KernelTable<void (*)(const float* from, uint8_t* to, int64_t count)> numbers_to_truth_table;

// bf16 and f16 as numbers, exactly; the numbers that are made halves are halves already.
extern const KernelTable<void (*)(const uint16_t* from, float* to, int64_t count)> bf16_to_numbers_table,
    f16_to_numbers_table;
extern const KernelTable<void (*)(const float* from, uint16_t* to, int64_t count)> numbers_to_bf16_table,
    numbers_to_f16_table;

extern const KernelTable<void (*)(float value, float* to, int64_t count)> fill_table;
// `rows` runs of `run` equal numbers, whose values lie `stride` apart, one behind the other. Of `room` elements at
// `to`, those behind them may be written, too.
extern const KernelTable<void (*)(const float* from, int64_t stride, int64_t rows, int64_t run, float* to,
                                  int64_t room)>
    fill_rows_table;

}  // namespace retrace
