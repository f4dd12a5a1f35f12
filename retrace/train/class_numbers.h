#pragma once
// Labels on the host.

#include <cstdint>
#include <vector>

#include "retrace/tensor/tensor.h"

namespace retrace {

// The values of labels of type i32 or u8.
inline std::vector<int32_t> class_numbers(const Tensor& labels) {
  if (labels.type() != DType::u8) return labels.to_vector<int32_t>();
  const auto narrow = labels.to_vector<uint8_t>();
  return {narrow.begin(), narrow.end()};
}

}  // namespace retrace
