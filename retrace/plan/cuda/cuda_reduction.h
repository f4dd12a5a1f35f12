#pragma once
// A chain, or an op that states how an element is made, and the reductions of what it makes as one kernel
// (retrace/ops/reduce/reduce_cuda.h): each thread computes the chain's elements of its lane, writes those that others
// read, and adds them up; what is made of the reductions' results alone is computed where these are written. The body
// of such a node has its pointwise nodes first, then the reductions, all of one shape over the same axes, then what is
// made of their results, all of the results' shape.

#include <string_view>

#include "retrace/ops/reduce/reduction.h"
#include "retrace/plan/cuda/generated_kernel.h"
#include "retrace/trace/trace.h"

namespace retrace {

// Whether a node is such a kernel.
bool is_reducing(const Node& node);
// Why `reduction` of `trace` cannot be taken along by the chain that makes its input, on a CUDA device; "" if it can.
std::string_view cuda_reduction_refusal(const Trace& trace, const Node& chain, const Node& reduction);
// Whether two reductions add in the same order. Both can be taken along by one chain.
bool reduce_alike(const Trace& trace, const Node& a, const Node& b);

// The source of such a body: the same body has the same name. The kernel takes a struct of ReduceArguments and the
// addresses of the body's inputs and outputs, in order.
CudaChain generate_reducing_chain(const Trace& body);

int64_t reducing_workspace(const Trace& body);
void add_reducing_launches(const GeneratedCall& call);

}  // namespace retrace
