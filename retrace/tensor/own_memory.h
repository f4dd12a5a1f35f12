#pragma once
// Whether a tensor's memory may become that of a result.

#include "retrace/tensor/tensor.h"

namespace retrace {

// The memory of a tensor that nobody else holds, or null. Copies of both handles: what another thread did before it
// dropped its own happens before what follows.
inline std::shared_ptr<Buffer> memory_of_its_own(const Tensor& tensor) {
  if (tensor.value().use_count() != 1) return nullptr;
  const auto value = tensor.value();
  const auto buffer = value->buffer;
  return value.use_count() == 2 && buffer.use_count() == 2 ? buffer : nullptr;
}

}  // namespace retrace
