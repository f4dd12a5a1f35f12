#pragma once
// Batches of tensors made on the host.

#include <span>

#include "retrace/tensor/tensor.h"

namespace retrace {

// The same bytes under another description of the same size and device.
Tensor with_spec(const Tensor& tensor, const TensorSpec& spec);

// A tensor on the CPU (the device of `spec` is ignored). The caller fills its bytes before anything else sees it.
struct BlankTensor {
  explicit BlankTensor(TensorSpec spec);
  Tensor tensor;
  std::byte* bytes;
};

// The spec of `count` tensors like `one` that are stacked along a new first axis; that axis has the label B if `one`
// has labels or is a single number.
TensorSpec stacked_spec(const TensorSpec& one, int64_t count);

// Stacks at least one tensor of equal shape, type and labels. Error(usage) names the first that differs, and the number
// of the variable unless that is negative.
Tensor stack_samples(std::span<const Tensor> tensors, int variable = -1);

// The same values in another type, by the rules of cast(): float to integer truncates, saturates, NaN gives 0.
Tensor converted(const Tensor& tensor, DType type);

}  // namespace retrace
