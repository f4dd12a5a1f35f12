#pragma once
// Shared by the ops of solvers.

#include "retrace/ops/op.h"

namespace retrace {

// Inputs: tensors of one shape and float type, then numbers of rank 0 of that type; the names are for messages. Returns
// the spec of input 0 for each of `outputs`.
std::vector<TensorSpec> infer_update(const InferCall& call, std::initializer_list<const char*> tensors,
                                     std::initializer_list<const char*> numbers, size_t outputs);

}  // namespace retrace
