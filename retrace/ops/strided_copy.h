#pragma once
// Moves elements between two strided arrays: what transpose, slice, pad and concatenate do.

#include "retrace/tensor/shape.h"

namespace retrace {

// to[sum of i_k * to_strides[k]] = from[sum of i_k * from_strides[k]] for every index i of `shape`; strides and
// offsets count elements of `item` bytes (1, 4 or 8). The arrays do not overlap. In parallel; a copy has no order.
void strided_copy(size_t item, const Shape& shape, const void* from, const Shape& from_strides, void* to,
                  const Shape& to_strides);

}  // namespace retrace
