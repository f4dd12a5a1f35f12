#include "retrace/ops/gather_rows/gather_rows_cuda.h"

#include "retrace/ops/cuda_call.h"

namespace retrace {
namespace {

unsigned rows_of_gather_rows_cuda(int64_t rows) {
  return static_cast<unsigned>(std::min<int64_t>(rows, int64_t{1} << 31));
}

void add_check(const CudaCall& call, int64_t rows) {
  const unsigned count = cuda_count(call.inputs[1].spec->count());
  const CheckRowsArguments arguments{call.inputs[1].data, count, rows_of_gather_rows_cuda(rows), call.errors};
  add_elementwise(call.launches, "check_rows", count, arguments);
}

template <class T>
void add_gather_gather_rows_cuda(const CudaCall& call, std::string_view kernel, T missing, int64_t items = 1) {
  const Shape &table = call.inputs[0].spec->shape, &y = call.outputs[0].spec->shape;
  const unsigned count = cuda_count(y.count() / items);
  const GatherRowsArguments<T> arguments{call.inputs[0].data,
                                         call.inputs[1].data,
                                         call.outputs[0].data,
                                         count,
                                         cuda::Divisor(static_cast<unsigned>(table.count(1, table.rank()) / items)),
                                         rows_of_gather_rows_cuda(table[0]),
                                         missing,
                                         call.errors};
  add_elementwise(call.launches, kernel, count, arguments);
}

}  // namespace

void cuda_gather_rows(const CudaCall& call) {
  const TensorSpec &table = *call.inputs[0].spec, &y = *call.outputs[0].spec;
  if (y.count() == 0) return add_check(call, table.shape[0]);
  constexpr unsigned kNan = 0x7fc00000;
  const int64_t width = table.shape.count(1, table.shape.rank());
  switch (table.type) {
    case DType::f64:
      return add_gather_gather_rows_cuda<unsigned long long>(call, "gather_rows_8", 0x7ff8000000000000ull);
    case DType::i64: return add_gather_gather_rows_cuda<unsigned long long>(call, "gather_rows_8", 0);
    case DType::bf16: return add_gather_gather_rows_cuda<unsigned short>(call, "gather_rows_2", 0x7fc0);
    case DType::f16: return add_gather_gather_rows_cuda<unsigned short>(call, "gather_rows_2", 0x7e00);
    case DType::u8:
    case DType::boolean: return add_gather_gather_rows_cuda<unsigned char>(call, "gather_rows_1", 0);
    case DType::f32:
    case DType::i32: break;
  }
  const unsigned missing = table.type == DType::f32 ? kNan : 0;
  if (width % 4 == 0)
    return add_gather_gather_rows_cuda<Words4>(call, "gather_rows_16", {{missing, missing, missing, missing}}, 4);
  add_gather_gather_rows_cuda<unsigned>(call, "gather_rows_4", missing);
}

void cuda_scatter_rows(const CudaCall& call) {
  require_f32(call, "scatter_rows");
  const Shape& y = call.outputs[0].spec->shape;
  if (cuda_count(y.count()) == 0) return add_check(call, y[0]);
  const auto rows = static_cast<unsigned>(y[0]), width = static_cast<unsigned>(y.count(1, y.rank()));
  const unsigned threads = std::min(kCudaThreads, (width + 31) / 32 * 32), per_row = (width + threads - 1) / threads;
  const ScatterRowsArguments arguments{call.inputs[0].data,
                                       call.inputs[1].data,
                                       call.outputs[0].data,
                                       cuda_count(call.inputs[1].spec->count()),
                                       rows,
                                       width,
                                       cuda::Divisor(per_row),
                                       call.errors};
  constexpr size_t kSharedBytes = 2 * 8 * sizeof(unsigned);
  call.launches.add("scatter_rows", {rows * per_row}, {threads}, arguments, kSharedBytes);
}

}  // namespace retrace
