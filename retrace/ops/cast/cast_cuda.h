#pragma once
// Arguments of the kernels cast_FROM_TO.

#include "retrace/device/cuda/global.h"

namespace retrace {

struct CudaCall;

template <class From, class To>
struct CastArguments {
  cuda::Global<const From> x;
  cuda::Global<To> y;
  unsigned count;
};

// Adds the launch.
void cuda_cast(const CudaCall& call);

}  // namespace retrace
