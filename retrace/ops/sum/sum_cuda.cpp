#include "retrace/ops/reduce/reduce_launch.h"

namespace retrace {

void cuda_sum(const CudaCall& call) {
  require_f32(call, "sum");
  CudaReduction kernels{"sum_columns_f32", "sum_rows_f32", 4};
  const DType type = call.inputs[0].spec->type;
  if (type == DType::i32) kernels = {"sum_columns_i32", "sum_rows_i32", 4};
  if (type == DType::u8 || type == DType::boolean) kernels = {"sum_columns_u8", "sum_rows_u8", 4};
  add_reduction(call, kernels, {call.outputs[0].data, nullptr, nullptr});
}

int64_t cuda_workspace_sum(const InferCall& call) { return cuda_reduce_workspace(call, 4); }

}  // namespace retrace
