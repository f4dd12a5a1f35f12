#pragma once
// gather_rows: y[i..., :] = table[index[i...], :], rows along the first axis of the table; index is i32. An index
// outside of the table throws Error(usage) with the value and its position: when it is computed, on a CUDA device when
// values are read next, where the row is of NaN, or of zeros for integers. Labels: those of the index, then C (U where
// there is a C already). Gradient for the table: scatter_rows.
// scatter_rows: table of `rows` rows, row r the sum of the x[i..., :] with index[i...] = r; +0 without any. Order: the
// occurrences of a row ascending, blocks of 256 from +0, the blocks combined by the tree of docs/numerics.md 0. An
// index outside of the table throws as above; on a CUDA device all is NaN then. Gradient: gather_rows.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor gather_rows(const Tensor& table, const Tensor& index, Place place = Place::here());
Tensor scatter_rows(const Tensor& x, const Tensor& index, int64_t rows, Place place = Place::here());

}  // namespace retrace
