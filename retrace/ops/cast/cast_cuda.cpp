#include "retrace/ops/cast/cast_cuda.h"

#include "retrace/ops/conversion.h"
#include "retrace/ops/cuda_call.h"

namespace retrace {

// The struct is the same for all types: two addresses and a number.
void cuda_conversion(const CudaCall& call) {
  const auto type_name = [](const TensorSpec& spec) {
    return name_of(spec.type == DType::boolean ? DType::u8 : spec.type);
  };
  const int64_t count = call.outputs[0].spec->count();
  const CastArguments<unsigned char, unsigned char> arguments{call.inputs[0].data, call.outputs[0].data,
                                                              cuda_count(count)};
  add_elementwise(call.launches,
                  fmt::format("cast_{}_{}", type_name(*call.inputs[0].spec), type_name(*call.outputs[0].spec)), count,
                  arguments);
}

}  // namespace retrace
