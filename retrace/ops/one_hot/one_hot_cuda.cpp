#include "retrace/ops/one_hot/one_hot_cuda.h"

#include <fmt/format.h>

#include "retrace/ops/cuda_call.h"

namespace retrace {
namespace {

template <class Label>
void add_one_hot_cuda(const CudaCall& call, std::string_view kernel) {
  const TensorSpec& y = *call.outputs[0].spec;
  const unsigned count = cuda_count(y.count());
  if (count == 0) return;  // there may be more classes than 32 bits count
  const OneHotArguments<Label> arguments{call.inputs[0].data, call.outputs[0].data, count,
                                         cuda::Divisor(static_cast<unsigned>(y.shape.back())), call.errors};
  add_elementwise(call.launches, kernel, count, arguments);
}

}  // namespace

void cuda_one_hot(const CudaCall& call) {
  if (call.inputs[0].spec->type == DType::u8) return add_one_hot_cuda<unsigned char>(call, "one_hot_u8");
  add_one_hot_cuda<int>(call, "one_hot_i32");
}

std::string cuda_element_one_hot(const InferCall& call, std::span<const std::string> arrays) {
  const int64_t classes = call.attributes.integer("classes");
  return fmt::format("one_hot_element({0}, i / {1}u, i % {1}u, {1}u, {2})", arrays[0], classes, arrays[1]);
}

}  // namespace retrace
