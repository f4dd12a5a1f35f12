#pragma once
// Arguments of the kernels one_hot_i32 and one_hot_u8.

#include "retrace/device/cuda/fast_divide.h"
#include "retrace/device/cuda/kernel_errors.h"

namespace retrace {

struct CudaCall;

template <class Label>
struct OneHotArguments {
  cuda::Global<const Label> labels;
  cuda::Global<float> y;
  unsigned count;  // elements of y
  cuda::Divisor classes;
  cuda::ErrorTarget errors;  // positions of labels
};

// Adds the launch.
void cuda_one_hot(const CudaCall& call);

}  // namespace retrace
