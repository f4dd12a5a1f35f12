#pragma once
// Arguments of the kernels of cumsum.cu: a thread takes a line.

#include "retrace/device/cuda/fast_divide.h"

namespace retrace {

struct CudaCall;

template <class T>
struct CumulativeArguments {
  cuda::Global<const T> x;
  cuda::Global<const T> factor;  // of linear_recurrence
  cuda::Global<T> y;
  unsigned lines;
  cuda::Divisor step;  // from one element of a line to the next
  unsigned size;       // of a line
  unsigned reverse;    // 1: from the last element on
};

// Add the launch.
void cuda_cumsum(const CudaCall& call);
void cuda_cumprod(const CudaCall& call);
void cuda_linear_recurrence(const CudaCall& call);

}  // namespace retrace
