#pragma once
// The host side of reductions on a CUDA device (reduce_cuda.h): shapes are cut into passes. No cut changes a bit.

#include "retrace/ops/cuda_call.h"
#include "retrace/ops/reduce/reduce_cuda_arguments.h"
#include "retrace/ops/reduce/reduction.h"

namespace retrace {

// Kernels that take ReduceArguments, and the size of their Policy's Value.
struct CudaReduction {
  std::string_view columns, rows;
  int64_t value_bytes;
};

// Adds the passes that reduce input 0 to out[0], out[1], out[2] (null: not wanted).
void add_reduction(const CudaCall& call, const CudaReduction& kernels, const std::array<void*, 3>& out);
// Bytes that `call.workspace` must have.
int64_t cuda_reduce_workspace(const InferCall& call, int64_t value_bytes);

// The launches of a reduction of that shape, without addresses of its input and its results; `name` is for errors.
// Blocks have at most `most_threads` threads: 256, 512 or 1024.
struct CudaReducePass {
  cuda::ReduceArguments arguments;
  unsigned blocks, threads;
  size_t shared_bytes;
};
std::vector<CudaReducePass> cuda_reduce_passes(const ReduceShape& shape, int64_t value_bytes, int64_t most_threads,
                                               std::string_view name, void* workspace, unsigned* counters);
int64_t cuda_reduce_workspace(const ReduceShape& shape, int64_t value_bytes, int64_t most_threads);

}  // namespace retrace
