#pragma once
// A chain computed where a contraction's kernel stores its result: a form of that kernel (kernel_form.h), compiled for
// the plan. Each element of the result goes through the chain in the thread that summed it, four neighbours at a time
// where they lie together. The body of such a node is an epilogue (Body::Role). A block may add up the tile that it has
// stored (retrace/ops/reduce/tile_sum_cuda.h): then a sum is the last node of the body.

#include <span>
#include <string>
#include <string_view>

#include "retrace/base/error.h"
#include "retrace/device/cuda/launches.h"
#include "retrace/trace/op.h"

namespace retrace {

// Whether a node is such a kernel, in a trace on a CUDA device.
bool has_epilogue(const Node& node);
// Whether a node without a body may become one, on a CUDA device: it is a contraction whose only kernel has forms
// (in every mode, or in none).
bool takes_cuda_epilogue(const Trace& trace, const Node& contraction);
// Why the chain cannot be computed there; "" if it can.
std::string_view cuda_epilogue_refusal(const Trace& trace, const Node& contraction, const Node& chain);

// Why the kernel of a contraction, with a chain or without, cannot take a sum of what it stores along, on a CUDA
// device;
// "" if it can. It takes one.
std::string_view tile_sum_refusal(const Trace& trace, const Node& contraction, const Node& reduction);
// Bytes that the sum needs; 0 if there is none.
int64_t tile_sum_workspace(const Trace& trace, const Node& node, Mode mode);

// A source with one kernel: the same kernel and body have the same name, which begins with that of the plain form.
// Of the kernel of that mode.
struct CudaEpilogue {
  std::string name, source;
};
CudaEpilogue generate_epilogue(const Trace& trace, const Node& node, Mode mode);

// Why such a source was not compiled. The plan can be made without it.
class EpilogueError : public Error {
 public:
  explicit EpilogueError(const Error& error) : Error(error) {}
};

// The launch of the op, by its form, with the node's inputs and outputs.
void add_epilogue_launch(const Trace& trace, const Node& node, const cuda::Kernel& kernel,
                         std::span<const KernelInput> inputs, std::span<const KernelOutput> outputs, void* workspace,
                         cuda::Launches& launches);

}  // namespace retrace
