#pragma once
// The CUDA kernel of pad: gathered by the elements of the result, so that each is written once.

#include "retrace/device/cuda/fast_divide.h"
#include "retrace/ops/copy/words_cuda.h"

namespace retrace {

struct CudaCall;

template <class T>
struct PadArguments {
  cuda::Global<const T> from;
  cuda::Global<T> to;
  unsigned count;  // elements of the result
  int rank;
  cuda::Divisor shape[8], step[8];
  unsigned begin[8];
  unsigned size[8];  // of x
};

// Adds the launch.
void cuda_pad(const CudaCall& call);

}  // namespace retrace
