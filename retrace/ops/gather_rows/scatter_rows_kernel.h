#pragma once
// The f32 kernel of scatter_rows, in the order stated in gather_rows.h.

#include <cstdint>

namespace retrace {

// x[count, width], index[count] within 0..rows-1, y[rows, width].
void scatter_rows_f32(const float* x, const int32_t* index, int64_t count, int64_t rows, int64_t width,
                      int64_t* workspace, float* y);
int64_t scatter_rows_workspace(int64_t count, int64_t rows);  // bytes

}  // namespace retrace
