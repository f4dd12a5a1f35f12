#pragma once
// Arguments of the kernels of resize2d.

#include "retrace/device/cuda/global.h"
#include "retrace/ops/resize2d/resize2d_axis.h"

namespace retrace {

struct CudaCall;

struct Resize2dArguments {
  cuda::Global<const float> from;
  cuda::Global<float> to;
  unsigned count;  // elements of `to`
  cuda::Divisor channels;
  cuda::Divisor width, height;  // of `to`
  ResizeAxis y, x;
};

// Add the launch.
void cuda_resize2d(const CudaCall& call);
void cuda_resize2d_gradient(const CudaCall& call);

}  // namespace retrace
