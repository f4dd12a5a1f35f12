#pragma once
// Labels on the host.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "retrace/tensor/tensor.h"

namespace retrace {

// The values of labels of type i32, u8 or i64; one that i32 does not hold, which is no class either, as the nearest.
inline std::vector<int32_t> class_numbers(const Tensor& labels) {
  using Limits = std::numeric_limits<int32_t>;
  if (labels.type() == DType::i32) return labels.to_vector<int32_t>();
  std::vector<int32_t> numbers;
  for (const int64_t number : labels.to_vector<int64_t>())
    numbers.push_back(static_cast<int32_t>(std::clamp<int64_t>(number, Limits::min(), Limits::max())));
  return numbers;
}

}  // namespace retrace
