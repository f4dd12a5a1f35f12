#pragma once
// Shared by pointwise ops: broadcasting by label or position, type checks, gradients of broadcasts, and the kernel for
// the element types that are not fused (f64, i32, u8).
//
// A rule NAME_rule.h in an op's folder makes `NAME_pointwise`; declare it with RT_POINTWISE_RULE(NAME).

#include "retrace/ops/op.h"

#define RT_POINTWISE_RULE(name) extern const PointwiseRule name##_pointwise

namespace retrace {

// Records a call after aligning the arguments: two labelled tensors by label (a missing label counts as size 1, the
// result has the union in canonical order), others by position from the last axis. Throws Error(usage) if sizes clash.
Tensor pointwise(const Op& op, std::initializer_list<Tensor> inputs, Place place);

// One type for all arguments; the result has it (infer_comparison: bool).
std::vector<TensorSpec> infer_pointwise(const InferCall& call);
std::vector<TensorSpec> infer_pointwise_float(const InferCall& call);
std::vector<TensorSpec> infer_comparison(const InferCall& call);
// Labels and shape of the broadcast result of all inputs.
TensorSpec infer_broadcast(const InferCall& call, DType type);

// The kernel of a pointwise op outside of a tile program: any shape, any type.
void run_pointwise(const Op& op, const KernelCall& call);

// The gradient of a broadcast: sums `gradient` over the axes along which a tensor like `like` was stretched, and
// gives it the shape and labels of `like`.
Tensor sum_to(const Tensor& gradient, const Tensor& like, Place place);

}  // namespace retrace
