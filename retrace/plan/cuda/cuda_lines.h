#pragma once
// A chain of nodes that go line by line (line_form.h) as one CUDA kernel: the threads of a line hold what lies between
// its ops in registers. What is added up over all lines is written, and the block that comes last adds it up
// (line_chain_kernel.h).

#include <string_view>

#include "retrace/plan/cuda/generated_kernel.h"

namespace retrace {

// The op of such a chain: its body says what it computes.
const Op& line_chain_op();
// Why a body of lines beside each other is no kernel, or is not to be; "" if it is.
std::string_view cuda_lines_refusal(const Trace& body);

CudaChain generate_line_chain(const Trace& body);
int64_t line_chain_workspace(const Trace& body);
void add_line_chain_launch(const GeneratedCall& call);

}  // namespace retrace
