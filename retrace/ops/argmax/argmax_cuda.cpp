#include "retrace/ops/max/find_maximum_cuda.h"

namespace retrace {

void cuda_argmax(const CudaCall& call) { add_search(call, "argmax", {.index = call.outputs[0].data}); }

}  // namespace retrace
