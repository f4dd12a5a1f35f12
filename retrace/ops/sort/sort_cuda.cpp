#include "retrace/ops/sort/sort_cuda.h"

#include "retrace/ops/cuda_call.h"

namespace retrace {
namespace {

template <class Bits>
void add_sort_cuda(const CudaCall& call, std::string_view kernel) {
  const Shape& shape = call.inputs[0].spec->shape;
  if (call.outputs[0].spec->count() == 0) return;
  const auto axis = static_cast<int>(call.attributes.integer("axis"));
  const ArgsortArguments<Bits> arguments{call.inputs[0].data,
                                         call.outputs[0].data,
                                         cuda_count(shape.count()),
                                         cuda::Divisor(static_cast<unsigned>(shape.count(axis + 1, shape.rank()))),
                                         cuda::Divisor(static_cast<unsigned>(shape[axis])),
                                         static_cast<unsigned>(call.attributes.integer("count")),
                                         static_cast<unsigned>(call.attributes.integer("descending")),
                                         static_cast<unsigned>(call.attributes.integer("nan_first"))};
  add_elementwise(call.launches, kernel, arguments.count, arguments);
}

}  // namespace

void cuda_argsort(const CudaCall& call) {
  require_f32(call, "argsort");
  switch (call.inputs[0].spec->type) {
    case DType::u8:
    case DType::boolean: return add_sort_cuda<unsigned char>(call, "argsort_u8");
    case DType::i32: return add_sort_cuda<unsigned>(call, "argsort_i32");
    case DType::f32:
    case DType::f64:
    case DType::bf16:
    case DType::f16:
    case DType::i64: break;
  }
  add_sort_cuda<unsigned>(call, "argsort_f32");
}

}  // namespace retrace
