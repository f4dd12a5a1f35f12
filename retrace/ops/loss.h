#pragma once
// Shared by losses.

#include "retrace/ops/op.h"

namespace retrace {

// Two floats of one type, shape and labels (labels may be missing on one side); the result is an unlabelled number.
std::vector<TensorSpec> infer_loss(const InferCall& call);
// Observations in y: the size of its B axis; unlabelled: of the first of two or more axes; else 1.
int64_t observation_count(const Tensor& y);

}  // namespace retrace
