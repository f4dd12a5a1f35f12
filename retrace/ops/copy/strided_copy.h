#pragma once
// Moves elements between two strided arrays: what transpose, slice, pad and concatenate do.

#include "retrace/base/function_ref.h"
#include "retrace/tensor/shape.h"

namespace retrace {
namespace cuda {
class Launches;  // retrace/device/cuda/launches.h
}

// to[sum of i_k * to_strides[k]] = from[sum of i_k * from_strides[k]] for every index i of `shape`; strides and
// offsets count elements of `item` bytes (1, 4 or 8). The arrays do not overlap. In parallel; a copy has no order.
void strided_copy(size_t item, const Shape& shape, const void* from, const Shape& from_strides, void* to,
                  const Shape& to_strides);
// Calls `copy` for ranges of all rows, which together cost so many elements, in parallel: a few copies of the same rows
// in one piece each.
void copy_by_rows(int64_t rows, int64_t elements, FunctionRef<void(int64_t begin, int64_t end)> copy);
// strided_copy with addresses on the device: adds one launch, or none for no elements. At most 2^31 elements.
void cuda_strided_copy(cuda::Launches& launches, size_t item, const Shape& shape, const void* from,
                       const Shape& from_strides, void* to, const Shape& to_strides);

// The loops of a copy: axes of size 1 are dropped, neighbours that both arrays step through regularly are merged.
struct StridedLayout {
  Shape shape, from, to;
};
StridedLayout merged_layout(const Shape& shape, const Shape& from, const Shape& to);

}  // namespace retrace
