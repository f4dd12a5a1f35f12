#include "retrace/ops/reduce/reduce_launch.h"

namespace retrace {

void cuda_moments(const CudaCall& call) {
  require_f32(call, "moments");
  add_reduction(call, {"moments_columns", "moments_rows", 8}, {call.outputs[0].data, call.outputs[1].data, nullptr});
}

int64_t cuda_workspace_moments(const InferCall& call) { return cuda_reduce_workspace(call, 8); }

}  // namespace retrace
