#pragma once
// The benches' data: numbers that look random and are a function of their index.

#include "retrace/tensor/tensor.h"

namespace retrace::bench {

// f32 numbers in [0, 1): a multiplicative hash of the row-major index and `salt`; bench/peers/workloads.py makes the
// same.
Tensor synthetic(const Shape& shape, uint32_t salt, std::string_view labels = "");

}  // namespace retrace::bench
