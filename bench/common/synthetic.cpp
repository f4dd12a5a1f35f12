#include "bench/common/synthetic.h"

namespace retrace::bench {

Tensor synthetic(const Shape& shape, uint32_t salt, std::string_view labels) {
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t x = static_cast<uint32_t>(i) + salt * 0x9E3779B9u;
    x ^= x >> 16, x *= 0x7FEB352Du, x ^= x >> 15, x *= 0x846CA68Bu, x ^= x >> 16;
    values[i] = static_cast<float>(x >> 8) * 0x1p-24f;
  }
  return Tensor::from(values, shape, labels);
}

}  // namespace retrace::bench
