#include "retrace/ops/max_pool2d/max_pool2d_cuda.h"

#include "retrace/ops/cuda_call.h"
#include "retrace/ops/pool/pooling.h"

namespace retrace {
namespace {

// The structs are the same for both types of the index: three addresses, the grid, a number.
template <template <class> class Arguments>
void add(const CudaCall& call, std::string_view name, const Shape& image, const void* first, void* second, void* third,
         const TensorSpec& index) {
  require_f32(call, name);
  const unsigned count = cuda_count(call.outputs[0].spec->count());
  cuda_count(image.count());
  const Arguments<int> arguments{first, second, third, pool_grid(pool_shape(call.attributes, image)), count};
  add_elementwise(call.launches, fmt::format("{}_{}", name, name_of(index.type)), count, arguments);
}

}  // namespace

void cuda_max_pool2d(const CudaCall& call) {
  add<MaxPoolArguments>(call, "max_pool2d", call.inputs[0].spec->shape, call.inputs[0].data, call.outputs[0].data,
                        call.outputs[1].data, *call.outputs[1].spec);
}

void cuda_max_pool2d_gather(const CudaCall& call) {
  add<MaxPoolGatherArguments>(call, "max_pool2d_gather", call.inputs[0].spec->shape, call.inputs[0].data,
                              const_cast<void*>(call.inputs[1].data), call.outputs[0].data, *call.inputs[1].spec);
}

void cuda_max_pool2d_gradient(const CudaCall& call) {
  add<MaxPoolGradientArguments>(call, "max_pool2d_gradient", call.outputs[0].spec->shape, call.inputs[0].data,
                                const_cast<void*>(call.inputs[1].data), call.outputs[0].data, *call.inputs[1].spec);
}

std::string cuda_element_max_pool2d_gradient(const InferCall& call, std::span<const std::string> arrays) {
  const PoolGrid grid = pool_grid(pool_shape(call.attributes, infer_unpooled(call, "dy").shape));
  const bool apart = grid.height <= grid.stride_y && grid.width <= grid.stride_x;
  return fmt::format("[&] {{ constexpr {}; return max_pool2d_gradient_element<{}>({}, {}, grid, i); }}()",
                     pool_grid_text(grid), apart, arrays[0], arrays[1]);
}

}  // namespace retrace
