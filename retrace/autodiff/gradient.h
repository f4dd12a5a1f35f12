#pragma once
// Reverse-mode differentiation on the trace as recorded: no pass has run before it. Gradients are recorded as more
// nodes of the same trace, so they can be differentiated again.

#include <span>
#include <vector>

#include "retrace/tensor/tensor.h"

namespace retrace {

// d loss / d x for each x: tensors recorded on this thread (or known: then as inputs of the trace). The loss is one
// f32 or f64 element. Zeros where the loss does not depend on x. Contributions of several consumers are added in the
// recorded order of the consumers, left to right.
std::vector<Tensor> gradients(const Tensor& loss, std::span<const Tensor> with_respect_to, Place place = Place::here());

// The product of cotangents with the derivative: for each x the sum over outputs of cotangent times d output / d x,
// with the contributions in the same order. An undefined cotangent counts nothing; undefined where nothing depends on
// x.
std::vector<Tensor> pull_back(std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                              std::span<const Tensor> with_respect_to, Place place = Place::here());

}  // namespace retrace
