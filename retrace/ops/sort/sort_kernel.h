#pragma once
// The kernel of argsort on the CPU. It sorts keys with their indices, no two of which are equal, so the result does not
// depend on how.

#include "retrace/trace/op.h"

namespace retrace {

void run_argsort(const KernelCall& call);
int64_t argsort_workspace(const InferCall& call);  // bytes

}  // namespace retrace
