#include <algorithm>
#include <bit>

#include "retrace/ops/cuda_call.h"
#include "retrace/ops/reduce/reduce_cuda_arguments.h"

namespace retrace {

void cuda_softmax(const CudaCall& call) {
  require_f32(call, "softmax");
  const Shape& shape = call.inputs[0].spec->shape;
  if (shape.count() == 0) return;
  const int axis = static_cast<int>(call.attributes.integer("axis"));
  const int64_t step = shape.count(axis + 1, shape.rank()), before = shape.count(0, axis);
  require_cuda_numbers(shape.count(), "softmax");
  const auto divisor = [](int64_t size) { return cuda::Divisor(static_cast<unsigned>(size)); };
  cuda::ReduceArguments a{};
  a.x = call.inputs[0].data, a.out[0] = call.outputs[0].data;
  a.outer = before * step, a.positions = a.run = shape[axis], a.channels = step;
  a.outer_axes = {2, {divisor(before), divisor(step)}, {shape[axis] * step, 1}};
  a.item = 256, a.items = (a.positions + a.item - 1) / a.item;
  a.lanes = 16, a.strips = static_cast<int>(std::min(std::bit_ceil(static_cast<uint64_t>(a.items)), uint64_t{16}));
  a.per = static_cast<int>(std::bit_ceil(static_cast<uint64_t>((a.items + a.strips - 1) / a.strips)));
  a.lane_bits = 4, a.strip_bits = std::countr_zero(static_cast<unsigned>(a.strips));
  constexpr unsigned threads = 256;
  const auto threads_of_row = static_cast<unsigned>(a.lanes * a.strips);
  call.launches.add("softmax_rows", cuda::blocks_for(a.outer, threads / threads_of_row), {threads}, a,
                    threads * sizeof(float));
}

}  // namespace retrace
