#include "retrace/ops/max_pool2d/max_pool2d_cuda.h"

#include "retrace/ops/cuda_call.h"
#include "retrace/ops/pool/pooling.h"

namespace retrace {
namespace {

bool is_apart(const PoolGrid& grid) { return grid.height <= grid.stride_y && grid.width <= grid.stride_x; }
bool is_small(const PoolGrid& grid) { return grid.height <= 2 && grid.width <= 2; }
bool is_none(const PoolGrid&) { return false; }

// The structs are the same for both types of the index: three addresses, the grid, a number. A thread takes four
// channels where `fours` says so of the windows, and the arrays and their size allow it.
template <template <class> class Arguments>
void add_max_pool2d_cuda(const CudaCall& call, std::string_view name, const Shape& image, const void* first,
                         void* second, void* third, const TensorSpec& index, bool (*fours)(const PoolGrid& grid)) {
  require_f32(call, name);
  const unsigned count = cuda_count(call.outputs[0].spec->count());
  cuda_count(image.count());
  const PoolGrid grid = pool_grid(pool_shape(call.attributes, image));
  const Arguments<int> arguments{first, second, third, grid, count};
  const auto aligned = [](const void* memory) { return reinterpret_cast<uintptr_t>(memory) % 16 == 0; };
  const bool wide = index.type == DType::u8 && grid.channels % 4 == 0 && count < 1u << 31 && fours(grid) &&
                    aligned(first) && aligned(second) && aligned(third);
  add_elementwise(call.launches, fmt::format("{}{}_{}", name, wide ? "_of_four" : "", name_of(index.type)),
                  wide ? count / 4 : count, arguments);
}

}  // namespace

void cuda_max_pool2d(const CudaCall& call) {
  add_max_pool2d_cuda<MaxPoolArguments>(call, "max_pool2d", call.inputs[0].spec->shape, call.inputs[0].data,
                                        call.outputs[0].data, call.outputs[1].data, *call.outputs[1].spec, is_small);
}

void cuda_max_pool2d_gather(const CudaCall& call) {
  add_max_pool2d_cuda<MaxPoolGatherArguments>(call, "max_pool2d_gather", call.inputs[0].spec->shape,
                                              call.inputs[0].data, const_cast<void*>(call.inputs[1].data),
                                              call.outputs[0].data, *call.inputs[1].spec, is_none);
}

void cuda_max_pool2d_gradient(const CudaCall& call) {
  add_max_pool2d_cuda<MaxPoolGradientArguments>(call, "max_pool2d_gradient", call.outputs[0].spec->shape,
                                                call.inputs[0].data, const_cast<void*>(call.inputs[1].data),
                                                call.outputs[0].data, *call.inputs[1].spec, is_apart);
}

std::string cuda_element_max_pool2d_gradient(const InferCall& call, std::span<const std::string> arrays) {
  const PoolGrid grid = pool_grid(pool_shape(call.attributes, infer_unpooled(call, "dy").shape));
  return fmt::format("[&] {{ constexpr {}; return max_pool2d_gradient_element<{}>({}, {}, grid, i); }}()",
                     pool_grid_text(grid), is_apart(grid), arrays[0], arrays[1]);
}

}  // namespace retrace
