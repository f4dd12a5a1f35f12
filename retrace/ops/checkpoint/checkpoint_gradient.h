#pragma once
// The gradient of the op `checkpoint`, which needs what is to the right of this folder:
// retrace/autodiff/checkpoint_gradient.cpp.

#include "retrace/ops/op.h"

namespace retrace {

std::vector<Tensor> checkpoint_gradient(const GradientCall& call);

}  // namespace retrace
