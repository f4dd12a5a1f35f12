#pragma once
// Arguments of the kernels of max pooling.

#include "retrace/ops/pool/pooling_window.h"

namespace retrace {

struct CudaCall;

template <class Index>
struct MaxPoolArguments {
  cuda::Global<const float> x;
  cuda::Global<float> y;
  cuda::Global<Index> index;
  PoolGrid grid;
  unsigned count;  // elements of y
};

template <class Index>
struct MaxPoolGatherArguments {
  cuda::Global<const float> x;
  cuda::Global<const Index> index;
  cuda::Global<float> y;
  PoolGrid grid;
  unsigned count;  // elements of y
};

template <class Index>
struct MaxPoolGradientArguments {
  cuda::Global<const float> dy;
  cuda::Global<const Index> index;
  cuda::Global<float> dx;
  PoolGrid grid;
  unsigned count;  // elements of dx
};

// Add the launch.
void cuda_max_pool2d(const CudaCall& call);
void cuda_max_pool2d_gather(const CudaCall& call);
void cuda_max_pool2d_gradient(const CudaCall& call);

}  // namespace retrace
