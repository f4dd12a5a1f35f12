#pragma once
// A chain of rows (retrace/plan/programs/row_program.h) as one CUDA kernel: what lies between its ops stays in shared
// memory (row_chain_kernel.h).

#include <string_view>

#include "retrace/plan/cuda/generated_kernel.h"

namespace retrace {

// Whether a node is such a chain.
bool is_row_chain(const Node& node);
// Why its body cannot be one on a CUDA device, or is not to; "" if it is.
std::string_view cuda_rows_refusal(const Trace& body);

// The source of such a body: the same body has the same name, whatever the number of rows. The kernel takes a struct of
// RowChainArguments and the addresses of the body's inputs and outputs, in order.
CudaChain generate_row_chain(const Trace& body);
int64_t row_chain_workspace(const Trace& body);
void add_row_chain_launch(const GeneratedCall& call);

}  // namespace retrace
