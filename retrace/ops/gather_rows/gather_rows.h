#ifndef RETRACE_OPS_GATHER_ROWS_H
#define RETRACE_OPS_GATHER_ROWS_H
// Rows of a table by index, and the reverse.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y[i..., :] = table[index[i...], :]: rows along the first axis of the table. index is i32. An index outside of the
// table throws Error(usage) with the value and its position when y is computed; on a CUDA device when values are read
// next, and the row is NaN there, or 0 for integers. Labels: those of the index, then C (U where there is a C already).
// Gradient for the table: scatter_rows.
Tensor gather_rows(const Tensor& table, const Tensor& index, Place place = Place::here());

// A table of `rows` rows; row r is the sum of the x[i..., :] with index[i...] = r, and +0 where there is none. x is f32
// or f64, index i32. Order: the occurrences of a row ascending, in blocks of 256 from +0; the blocks are combined by
// the tree of docs/numerics.md 0. An index outside of the table throws as in gather_rows; on a CUDA device all of the
// result is NaN then. Gradient: gather_rows.
Tensor scatter_rows(const Tensor& x, const Tensor& index, int64_t rows, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_GATHER_ROWS_H
