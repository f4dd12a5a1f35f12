#pragma once
// Pointwise chains as CUDA source: one thread an element, one load an argument, the ops' own scalar rules in between.

#include <string>

#include "retrace/trace/trace.h"

namespace retrace {

// Whether a node, or the body of a fused chain, can be computed so: rules on f32, bool and u8, or on i32, bool and u8.
bool can_generate(const Trace& trace, const Node& node);

// The kernel of a chain: the same body has the same name. Its argument is a struct of the addresses of the body's
// inputs and outputs, in order, and the number of elements as a long long.
struct CudaChain {
  std::string name, source;
  int64_t count = 0;
};
CudaChain generate_chain(const Trace& body);

// What stands before the kernels of a source that has them.
std::string chain_headers(const Trace& body);

}  // namespace retrace
