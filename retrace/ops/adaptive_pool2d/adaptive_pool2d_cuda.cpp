#include "retrace/ops/adaptive_pool2d/adaptive_pool2d_cuda.h"

#include "retrace/ops/adaptive_pool2d/adaptive_pool2d_op.h"
#include "retrace/ops/cuda_call.h"

namespace retrace {
namespace {

AdaptiveGrid adaptive_grid(const AdaptiveShape& s) {
  const auto narrow = [](int64_t size) { return static_cast<unsigned>(size); };
  cuda_count(s.inputs()), cuda_count(s.outputs());
  return {.size = narrow(s.size),
          .windows = narrow(s.windows),
          .inner = narrow(s.inner),
          .kinds = narrow(s.kinds()),
          .by_size = cuda::Divisor(narrow(s.size)),
          .by_windows = cuda::Divisor(narrow(s.windows)),
          .by_inner = cuda::Divisor(narrow(s.inner))};
}

unsigned result_count(const CudaCall& call) { return cuda_count(call.outputs[0].spec->count()); }

const void* data_before(const CudaCall& call, size_t input) {
  return call.inputs.size() > input ? call.inputs[input].data : nullptr;
}

// Both types of an index have one layout of the arguments: addresses, the grid, a number.
template <class Arguments>
void add_of_index(const CudaCall& call, std::string_view name, const TensorSpec& index, const Arguments& arguments) {
  add_elementwise(call.launches, fmt::format("{}_{}", name, name_of(index.type)), arguments.count, arguments);
}

}  // namespace

void cuda_adaptive_average_pool(const CudaCall& call) {
  require_f32(call, "adaptive_average_pool");
  const AdaptiveAverageArguments arguments{
      call.inputs[0].data, nullptr, call.outputs[0].data,
      adaptive_grid(adaptive_pooled_shape(call.attributes, call.inputs[0].spec->shape)), result_count(call)};
  add_elementwise(call.launches, "adaptive_average_pool", arguments.count, arguments);
}

void cuda_adaptive_average_pool_gradient(const CudaCall& call) {
  require_f32(call, "adaptive_average_pool_gradient");
  const AdaptiveAverageArguments arguments{
      call.inputs[0].data, data_before(call, 1), call.outputs[0].data,
      adaptive_grid(adaptive_spread_shape(call.attributes, call.inputs[0].spec->shape)), result_count(call)};
  add_elementwise(call.launches, "adaptive_average_pool_gradient", arguments.count, arguments);
}

void cuda_adaptive_max_pool(const CudaCall& call) {
  require_f32(call, "adaptive_max_pool");
  const AdaptiveMaxArguments<int> arguments{
      call.inputs[0].data, call.outputs[0].data, call.outputs[1].data,
      adaptive_grid(adaptive_pooled_shape(call.attributes, call.inputs[0].spec->shape)), result_count(call)};
  add_of_index(call, "adaptive_max_pool", *call.outputs[1].spec, arguments);
}

void cuda_adaptive_max_pool_gather(const CudaCall& call) {
  require_f32(call, "adaptive_max_pool_gather");
  const AdaptiveGatherArguments<int> arguments{
      call.inputs[0].data, call.inputs[1].data, call.outputs[0].data,
      adaptive_grid(adaptive_pooled_shape(call.attributes, call.inputs[0].spec->shape)), result_count(call)};
  add_of_index(call, "adaptive_max_pool_gather", *call.inputs[1].spec, arguments);
}

void cuda_adaptive_max_pool_gradient(const CudaCall& call) {
  require_f32(call, "adaptive_max_pool_gradient");
  const AdaptiveWonArguments<int> arguments{
      call.inputs[0].data,
      data_before(call, 2),
      call.inputs[1].data,
      call.outputs[0].data,
      adaptive_grid(adaptive_spread_shape(call.attributes, call.inputs[0].spec->shape)),
      result_count(call)};
  add_of_index(call, "adaptive_max_pool_gradient", *call.inputs[1].spec, arguments);
}

}  // namespace retrace
