#pragma once
// Shared by derivatives.

#include <span>

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor zeros_like(const Tensor& x, Place place);

// Throws Error(usage) unless there is one for each of the others, undefined or of the same type and shape.
void check_cotangents(const char* function, std::span<const Tensor> of, std::span<const Tensor> given, Place place);

}  // namespace retrace
