#pragma once
// Shared by the host sides of CUDA kernels.

#include <fmt/format.h>

#include <algorithm>

#include "retrace/device/cuda/launches.h"
#include "retrace/trace/op.h"

namespace retrace {

// The error of an op without a CUDA kernel or, if `type` is not empty, without one for that type.
inline Error no_cuda_kernel(std::string_view op, std::string_view type = "") {
  return Error(ErrorKind::unavailable, 620,
               fmt::format("{} has no CUDA kernel{}{}", op, type.empty() ? "" : " for ", type))
      .help(fmt::format("compute this part on the CPU: x.to(\"cpu\"){}", type == "f64" ? ", or use f32" : ""));
}

// Throws Error(unavailable) if an argument or a result is f64.
inline void require_f32(const CudaCall& call, std::string_view name) {
  for (const auto& input : call.inputs)
    if (size_of(input.spec->type) == 8) throw no_cuda_kernel(name, name_of(input.spec->type));
  for (const auto& output : call.outputs)
    if (size_of(output.spec->type) == 8) throw no_cuda_kernel(name, name_of(output.spec->type));
}

// Returns a number of elements for kernels that count in 32 bits; refuses more than 2^31.
inline unsigned cuda_count(int64_t elements) {
  if (elements > int64_t{1} << 31)
    throw Error(ErrorKind::unavailable, 620,
                fmt::format("a tensor of {} elements has no CUDA kernel: more than 2^31", elements));
  return static_cast<unsigned>(elements);
}

// The number of blocks of a one-dimensional grid. Throws Error(unavailable) if the product of the three factors exceeds
// it.
inline unsigned cuda_grid(int64_t a, int64_t b, int64_t c, std::string_view name) {
  int64_t blocks = 0;
  if (__builtin_mul_overflow(a, b, &blocks) || __builtin_mul_overflow(blocks, c, &blocks) || blocks >= int64_t{1} << 31)
    throw Error(ErrorKind::unavailable, 620, fmt::format("{} has no CUDA kernel for arrays of this size", name))
        .help("use smaller batches");
  return static_cast<unsigned>(blocks);
}

// Refuses more elements than 32 bits number, in the same way.
inline void require_cuda_numbers(int64_t elements, std::string_view name) {
  cuda_grid(elements / 2 + elements % 2, 1, 1, name);
}

constexpr unsigned kCudaThreads = 256;  // of a block, where each makes one element

// One thread for each of `elements`, in blocks of kCudaThreads; no blocks for no elements.
template <class Arguments>
void add_elementwise(cuda::Launches& launches, std::string_view kernel, int64_t elements, const Arguments& arguments) {
  if (elements > 0) launches.add(kernel, cuda::blocks_for(elements, kCudaThreads), {kCudaThreads}, arguments);
}

}  // namespace retrace
