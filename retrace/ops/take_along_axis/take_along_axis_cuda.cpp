#include "retrace/ops/take_along_axis/take_along_axis_cuda.h"

#include "retrace/ops/cuda_call.h"
#include "retrace/ops/gather_rows/gather_rows_cuda.h"
#include "retrace/ops/take_along_axis/take_along_axis_kernel.h"

namespace retrace {
namespace {

AlongAxis along_axis(const CudaCall& call) {
  return {call.attributes, call.inputs[0].spec->shape, call.inputs[1].spec->shape};
}

cuda::Divisor divisor_take_along_axis_cuda(int64_t size) { return cuda::Divisor(static_cast<unsigned>(size)); }

template <class T>
void add_take(const CudaCall& call, std::string_view kernel, T missing) {
  const AlongAxis along = along_axis(call);
  require_cuda_numbers(call.inputs[0].spec->count(), "take_along_axis");
  const TakeAlongAxisArguments<T> arguments{call.inputs[0].data,
                                            call.inputs[1].data,
                                            call.outputs[0].data,
                                            cuda_count(call.outputs[0].spec->count()),
                                            divisor_take_along_axis_cuda(along.step),
                                            divisor_take_along_axis_cuda(along.picks),
                                            static_cast<unsigned>(along.size),
                                            missing,
                                            call.errors};
  add_elementwise(call.launches, kernel, arguments.count, arguments);
}

template <class T>
void add_scatter(const CudaCall& call, std::string_view kernel, T missing) {
  const AlongAxis along = along_axis(call);
  const ScatterAddArguments<T> arguments{call.inputs[0].data,
                                         call.inputs[1].data,
                                         call.inputs[2].data,
                                         call.outputs[0].data,
                                         cuda_count(call.outputs[0].spec->count()),
                                         divisor_take_along_axis_cuda(along.step),
                                         divisor_take_along_axis_cuda(along.size),
                                         static_cast<unsigned>(along.picks),
                                         missing,
                                         call.errors};
  add_elementwise(call.launches, kernel, arguments.count, arguments);
}

}  // namespace

void cuda_take_along_axis(const CudaCall& call) {
  switch (call.outputs[0].spec->type) {
    case DType::f64: return add_take<unsigned long long>(call, "take_along_axis_8", 0x7ff8000000000000ull);
    case DType::u8:
    case DType::boolean: return add_take<unsigned char>(call, "take_along_axis_1", 0);
    case DType::f32: return add_take<unsigned>(call, "take_along_axis_4", 0x7fc00000);
    case DType::i32:
    case DType::bf16:
    case DType::f16:
    case DType::i64: break;  // record() brings the halves to f32, and refuses i64
  }
  add_take<unsigned>(call, "take_along_axis_4", 0);
}

void cuda_scatter_add(const CudaCall& call) {
  require_f32(call, "scatter_add");
  const unsigned indices = cuda_count(call.inputs[1].spec->count());
  if (call.outputs[0].spec->count() == 0) {  // no index exists, and no other kernel sees them
    const CheckRowsArguments arguments{call.inputs[1].data, indices, 0, call.errors};
    return add_elementwise(call.launches, "check_rows", indices, arguments);
  }
  if (call.outputs[0].spec->type == DType::i32) return add_scatter<unsigned>(call, "scatter_add_i32", 0);
  add_scatter<float>(call, "scatter_add_f32", __builtin_nanf(""));
}

}  // namespace retrace
