#include "retrace/ops/average_pool2d/average_pool2d_cuda.h"

#include "retrace/ops/cuda_call.h"
#include "retrace/ops/pool/pooling.h"

namespace retrace {
namespace {

// With the kernel `of_four`, if there is one, a thread takes four channels where the arrays and their size allow it.
void add_average_pool2d_cuda(const CudaCall& call, std::string_view name, std::string_view of_four,
                             const Shape& image) {
  require_f32(call, name);
  cuda_count(call.inputs[0].spec->count());
  const unsigned count = cuda_count(call.outputs[0].spec->count());
  const AveragePoolArguments arguments{call.inputs[0].data, call.outputs[0].data,
                                       pool_grid(pool_shape(call.attributes, image)), count,
                                       static_cast<int>(call.attributes.integer("count_padding"))};
  const auto aligned = [](const void* memory) { return reinterpret_cast<uintptr_t>(memory) % 16 == 0; };
  const bool fours = !of_four.empty() && arguments.grid.channels % 4 == 0 && count < 1u << 31 &&
                     aligned(call.inputs[0].data) && aligned(call.outputs[0].data);
  add_elementwise(call.launches, fours ? of_four : name, fours ? count / 4 : count, arguments);
}

}  // namespace

void cuda_average_pool2d(const CudaCall& call) {
  add_average_pool2d_cuda(call, "average_pool2d", "", call.inputs[0].spec->shape);
}
void cuda_average_pool2d_gradient(const CudaCall& call) {
  add_average_pool2d_cuda(call, "average_pool2d_gradient", "average_pool2d_gradient_of_four",
                          call.outputs[0].spec->shape);
}

}  // namespace retrace
