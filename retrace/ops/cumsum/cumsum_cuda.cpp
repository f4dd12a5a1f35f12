#include "retrace/ops/cumsum/cumsum_cuda.h"

#include "retrace/ops/cuda_call.h"

namespace retrace {
namespace {

// x: the input whose elements are combined; factor: another one, -1 for none.
template <class T>
void add_cumsum_cuda(const CudaCall& call, std::string_view kernel, size_t x, int factor = -1) {
  const Shape& shape = call.outputs[0].spec->shape;
  if (cuda_count(shape.count()) == 0) return;
  const int axis = static_cast<int>(call.attributes.integer("axis"));
  const int64_t step = shape.count(axis + 1, shape.rank()), lines = shape.count(0, axis) * step;
  CumulativeArguments<T> arguments{call.inputs[x].data,
                                   nullptr,
                                   call.outputs[0].data,
                                   static_cast<unsigned>(lines),
                                   cuda::Divisor(static_cast<unsigned>(step)),
                                   static_cast<unsigned>(shape[axis]),
                                   static_cast<unsigned>(call.attributes.integer("reverse"))};
  if (factor >= 0) arguments.factor = call.inputs[static_cast<size_t>(factor)].data;
  add_elementwise(call.launches, kernel, lines, arguments);
}

}  // namespace

void cuda_cumsum(const CudaCall& call) {
  require_f32(call, "cumsum");
  if (call.outputs[0].spec->type == DType::i32) return add_cumsum_cuda<unsigned>(call, "cumsum_i32", 0);
  add_cumsum_cuda<float>(call, "cumsum_f32", 0);
}

void cuda_cumprod(const CudaCall& call) {
  require_f32(call, "cumprod");
  if (call.outputs[0].spec->type == DType::i32) return add_cumsum_cuda<unsigned>(call, "cumprod_i32", 0);
  add_cumsum_cuda<float>(call, "cumprod_f32", 0);
}

void cuda_linear_recurrence(const CudaCall& call) {
  require_f32(call, "linear_recurrence");
  add_cumsum_cuda<float>(call, "linear_recurrence", 1, 0);
}

}  // namespace retrace
