#include "retrace/ops/average_pool2d/average_pool2d_cuda.h"

#include "retrace/ops/cuda_call.h"
#include "retrace/ops/pool/pooling.h"

namespace retrace {
namespace {

void add(const CudaCall& call, std::string_view name, const Shape& image) {
  require_f32(call, name);
  cuda_count(call.inputs[0].spec->count());
  const unsigned count = cuda_count(call.outputs[0].spec->count());
  const AveragePoolArguments arguments{call.inputs[0].data, call.outputs[0].data,
                                       pool_grid(pool_shape(call.attributes, image)), count,
                                       static_cast<int>(call.attributes.integer("count_padding"))};
  add_elementwise(call.launches, name, count, arguments);
}

}  // namespace

void cuda_average_pool2d(const CudaCall& call) { add(call, "average_pool2d", call.inputs[0].spec->shape); }
void cuda_average_pool2d_gradient(const CudaCall& call) {
  add(call, "average_pool2d_gradient", call.outputs[0].spec->shape);
}

}  // namespace retrace
