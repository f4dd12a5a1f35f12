#include "retrace/ops/max/max_cuda.h"

#include "retrace/ops/max/find_maximum_cuda.h"
#include "retrace/ops/reduce/reduce_launch.h"

namespace retrace {

void add_search(const CudaCall& call, std::string_view name, const CudaSearch& wanted) {
  require_f32(call, name);
  CudaReduction kernels{"search_columns_f32", "search_rows_f32", 8};
  const DType type = call.inputs[0].spec->type;
  if (type == DType::i32) kernels = {"search_columns_i32", "search_rows_i32", 8};
  if (type == DType::u8 || type == DType::boolean) kernels = {"search_columns_u8", "search_rows_u8", 8};
  add_reduction(call, kernels, {wanted.value, wanted.index, wanted.mask});
}

int64_t cuda_search_workspace(const InferCall& call) { return cuda_reduce_workspace(call, 8); }

void cuda_max(const CudaCall& call) { add_search(call, "max", {.value = call.outputs[0].data}); }

void cuda_first_maximum(const CudaCall& call) {
  const int64_t count = call.outputs[0].spec->count();
  if (count == 0) return;
  const cuda::ClearMaskArguments clear{call.outputs[0].data, count};
  call.launches.add("clear_mask", cuda::blocks_for(count, 256), {256}, clear);
  add_search(call, "first_maximum", {.mask = call.outputs[0].data});
}

}  // namespace retrace
