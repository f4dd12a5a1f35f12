#pragma once
// Arguments of the kernels of gather_rows and scatter_rows. They report positions in the index.

#include "retrace/device/cuda/fast_divide.h"
#include "retrace/device/cuda/kernel_errors.h"
#include "retrace/ops/copy/words_cuda.h"

namespace retrace {

struct CudaCall;

template <class T>
struct GatherRowsArguments {
  cuda::Global<const T> table;
  cuda::Global<const int> index;
  cuda::Global<T> y;
  unsigned count;       // elements of y
  cuda::Divisor width;  // elements of a row
  unsigned rows;        // of the table
  T missing;            // elements of a row that does not exist
  cuda::ErrorTarget errors;
};

struct ScatterRowsArguments {
  cuda::Global<const float> x;
  cuda::Global<const int> index;
  cuda::Global<float> y;
  long long count;        // of the index
  unsigned rows;          // of y
  unsigned width;         // of a row
  cuda::Divisor per_row;  // blocks that make one row together
  cuda::ErrorTarget errors;
};

// Arguments of the kernel check_rows, for rows without elements: no other kernel sees their indices.
struct CheckRowsArguments {
  cuda::Global<const int> index;
  unsigned count, rows;
  cuda::ErrorTarget errors;
};

// Add the launch.
void cuda_gather_rows(const CudaCall& call);
void cuda_scatter_rows(const CudaCall& call);

}  // namespace retrace
