#include "retrace/ops/random/random_cuda.h"

#include "retrace/ops/cuda_call.h"
#include "retrace/ops/random/random_kernel.h"

namespace retrace {
namespace {

template <class T>
void add_random_cuda(const CudaCall& call, std::string_view name, unsigned n = 0) {
  require_f32(call, name);
  const TensorSpec& y = *call.outputs[0].spec;
  if (cuda_count(y.count()) == 0) return;
  const DrawStream stream = draw_stream(call.attributes, y);
  const unsigned quads = cuda_count(stream.samples * ((stream.elements + 3) / 4));
  const DrawArguments<T> arguments{call.inputs[0].data,
                                   call.outputs[0].data,
                                   stream.purpose,
                                   stream.ordinal,
                                   static_cast<uint64_t>(stream.first_sample),
                                   quads,
                                   static_cast<unsigned>(stream.elements),
                                   n,
                                   cuda::Divisor(static_cast<unsigned>((stream.elements + 3) / 4))};
  add_elementwise(call.launches, fmt::format("random_{}", name), quads, arguments);
}

}  // namespace

void cuda_uniform(const CudaCall& call) { add_random_cuda<float>(call, "uniform"); }
void cuda_normal(const CudaCall& call) { add_random_cuda<float>(call, "normal"); }
void cuda_integers(const CudaCall& call) {
  add_random_cuda<int>(call, "integers", static_cast<unsigned>(call.attributes.integer("n")));
}

}  // namespace retrace
