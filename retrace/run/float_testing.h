#pragma once
// Short forms for tests of functions of f32 tensors.

#include <vector>

#include "retrace/tensor/tensor.h"

namespace retrace {

using Floats = std::vector<float>;

inline Tensor floats(const Floats& values) { return Tensor::from(values, {static_cast<int64_t>(values.size())}); }
inline Floats values_of(const Tensor& tensor) { return tensor.to_vector<float>(); }

}  // namespace retrace
