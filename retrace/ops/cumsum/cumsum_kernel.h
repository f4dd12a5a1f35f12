#pragma once
// The loops of cumsum, cumprod and linear_recurrence on the CPU.

#include "retrace/trace/op.h"

namespace retrace {

void run_cumsum(const KernelCall& call);
void run_cumprod(const KernelCall& call);
void run_linear_recurrence(const KernelCall& call);

}  // namespace retrace
