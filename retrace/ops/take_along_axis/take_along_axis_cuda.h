#pragma once
// Arguments of the kernels of take_along_axis and scatter_add. They report positions in the index.

#include "retrace/device/cuda/fast_divide.h"
#include "retrace/device/cuda/kernel_errors.h"

namespace retrace {

struct CudaCall;

template <class T>
struct TakeAlongAxisArguments {
  cuda::Global<const T> x;
  cuda::Global<const int> index;
  cuda::Global<T> y;
  unsigned count;             // elements of y
  cuda::Divisor step, picks;  // from one element of a line to the next; of the axis in y
  unsigned size;              // of the axis in x
  T missing;                  // an element that does not exist
  cuda::ErrorTarget errors;
};

template <class T>
struct ScatterAddArguments {
  cuda::Global<const T> x;
  cuda::Global<const int> index;
  cuda::Global<const T> source;
  cuda::Global<T> y;
  unsigned count;            // elements of y
  cuda::Divisor step, size;  // from one element of a line to the next; of the axis in y
  unsigned picks;            // of the axis in the index
  T missing;                 // elements of a line whose index does not exist
  cuda::ErrorTarget errors;
};

// Add the launch.
void cuda_take_along_axis(const CudaCall& call);
void cuda_scatter_add(const CudaCall& call);

}  // namespace retrace
