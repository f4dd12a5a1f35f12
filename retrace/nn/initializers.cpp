#include "retrace/nn/initializers.h"

#include <cmath>

#include "retrace/base/fp_environment.h"
#include "retrace/ops/operators.h"

namespace retrace::nn {

Fans conv2d_fans(const Shape& weights, int64_t groups) {
  const int64_t kernel = weights[0] * weights[1];
  return {kernel * weights[2], kernel * weights[3] / groups};
}

Fans transposed_conv2d_fans(const Shape& weights) {
  const int64_t kernel = weights[0] * weights[1];
  return {kernel * weights[3], kernel * weights[2]};
}

Fans linear_fans(const Shape& weights) { return {weights[1], weights[0]}; }

Tensor glorot_uniform(RandomKey key, const Shape& shape, Fans fans) {
  const FloatingPointScope floating_point;
  const double bound = std::sqrt(6.0 / static_cast<double>(fans.fan_in + fans.fan_out));
  return (uniform(shape, key) * 2 - 1) * bound;
}

Tensor he_normal(RandomKey key, const Shape& shape, Fans fans) {
  const FloatingPointScope floating_point;
  return normal(shape, key) * std::sqrt(2.0 / static_cast<double>(fans.fan_in));
}

Tensor glorot_uniform_published(RandomKey key, const Shape& shape, Fans fans) {
  return glorot_uniform(key, shape, {fans.fan_out, fans.fan_out});
}

Tensor zeros(RandomKey, const Shape& shape, Fans) { return Tensor::zeros(shape); }
Tensor ones(RandomKey, const Shape& shape, Fans) { return Tensor::full(shape, 1); }

}  // namespace retrace::nn
