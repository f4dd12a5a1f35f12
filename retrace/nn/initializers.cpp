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

Tensor glorot_uniform(const Shape& shape, Fans fans, RandomKey key) {
  const FloatingPointScope floating_point;
  const double bound = std::sqrt(6.0 / static_cast<double>(fans.fan_in + fans.fan_out));
  return (uniform(shape, key) * 2 - 1) * bound;
}

Tensor he_normal(const Shape& shape, Fans fans, RandomKey key) {
  const FloatingPointScope floating_point;
  return normal(shape, key) * std::sqrt(2.0 / static_cast<double>(fans.fan_in));
}

Tensor glorot_uniform_fan_out(const Shape& shape, Fans fans, RandomKey key) {
  return glorot_uniform(shape, {fans.fan_out, fans.fan_out}, key);
}

Initializer constant_values(double value) {
  return [value](const Shape& shape, Fans, RandomKey) { return Tensor::full(value, shape); };
}

}  // namespace retrace::nn
