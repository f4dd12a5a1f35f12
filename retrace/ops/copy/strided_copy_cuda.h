#pragma once
// Arguments of the kernels of strided_copy.

#include "retrace/device/cuda/fast_divide.h"
#include "retrace/ops/copy/words_cuda.h"

namespace retrace {

template <class T>
struct StridedCopyArguments {
  cuda::Global<const T> from;
  cuda::Global<T> to;
  unsigned count;  // product of shape[0 .. rank-1]
  int rank;
  cuda::Divisor shape[8];
  long long from_strides[8], to_strides[8];
};

}  // namespace retrace
