#pragma once
// Arguments of the kernels of sort.cu.

#include "retrace/device/cuda/fast_divide.h"
#include "retrace/ops/sort/sort_key.h"

namespace retrace {

struct CudaCall;

template <class Bits>
struct ArgsortArguments {
  cuda::Global<const Bits> x;
  cuda::Global<int> index;
  unsigned count;            // elements of x
  cuda::Divisor step, size;  // from one element of a line to the next; of the axis in x
  unsigned kept;             // of the axis in the index
  unsigned descending, nan_first;
};

// Adds the launch.
void cuda_argsort(const CudaCall& call);

}  // namespace retrace
