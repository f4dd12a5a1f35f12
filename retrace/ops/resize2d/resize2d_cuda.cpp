#include "retrace/ops/resize2d/resize2d_cuda.h"

#include "retrace/ops/cuda_call.h"
#include "retrace/ops/resize2d/resize2d_op.h"

namespace retrace {
namespace {

void add_resize2d_cuda(const CudaCall& call, std::string_view name, const ResizeShape& shape) {
  require_f32(call, name);
  cuda_count(call.inputs[0].spec->count());
  const Shape& to = call.outputs[0].spec->shape;
  const auto by = [](int64_t size) { return cuda::Divisor(static_cast<unsigned>(size)); };
  const Resize2dArguments arguments{call.inputs[0].data,
                                    call.outputs[0].data,
                                    cuda_count(to.count()),
                                    by(to[3]),
                                    by(to[2]),
                                    by(to[1]),
                                    shape.y,
                                    shape.x};
  add_elementwise(call.launches, name, arguments.count, arguments);
}

}  // namespace

void cuda_resize2d(const CudaCall& call) {
  add_resize2d_cuda(call, "resize2d",
                    resize_shape(call.attributes, call.inputs[0].spec->shape, call.outputs[0].spec->shape));
}

void cuda_resize2d_gradient(const CudaCall& call) {
  add_resize2d_cuda(call, "resize2d_gradient",
                    resize_shape(call.attributes, call.outputs[0].spec->shape, call.inputs[0].spec->shape));
}

}  // namespace retrace
