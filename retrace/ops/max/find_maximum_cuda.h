#pragma once
// The search of find_maximum.h on a CUDA device.

#include "retrace/ops/cuda_call.h"

namespace retrace {

// The results that are wanted of each first maximum; null: not wanted.
struct CudaSearch {
  void* value = nullptr;
  void* index = nullptr;  // i32, over the reduced axes
  void* mask = nullptr;   // a byte for each element of the input, zero at first
};
void add_search(const CudaCall& call, std::string_view name, const CudaSearch& wanted);
int64_t cuda_search_workspace(const InferCall& call);

}  // namespace retrace
