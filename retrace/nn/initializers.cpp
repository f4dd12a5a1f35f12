#include "retrace/nn/initializers.h"

#include <algorithm>
#include <cmath>

#include <vector>

#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/ops/operators.h"

namespace retrace::nn {
namespace {

// z * sqrt(share / fans), z normal.
Tensor normal_of(const Shape& shape, double share, int64_t fans, RandomKey key) {
  const FloatingPointScope floating_point;
  return normal(shape, key) * std::sqrt(share / static_cast<double>(fans));
}

// Makes the columns of m [rows,columns] orthonormal, from left to right; each is taken off all behind it. Sums go from
// the first row to the last one; products and sums are rounded.
void make_orthonormal(std::vector<double>& m, size_t rows, size_t columns) {
  std::vector<double> products(columns);
  for (size_t k = 0; k < columns; ++k) {
    std::fill(products.begin(), products.end(), 0.0);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = k; j < columns; ++j) products[j] += m[i * columns + k] * m[i * columns + j];
    const double length = std::sqrt(products[k]);
    for (size_t j = k + 1; j < columns; ++j) products[j] /= length;
    for (size_t i = 0; i < rows; ++i) {
      double* row = &m[i * columns];
      row[k] /= length;
      for (size_t j = k + 1; j < columns; ++j) row[j] -= row[k] * products[j];
    }
  }
}

}  // namespace

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

Tensor he_normal(const Shape& shape, Fans fans, RandomKey key) { return normal_of(shape, 2, fans.fan_in, key); }

Tensor glorot_normal(const Shape& shape, Fans fans, RandomKey key) {
  return normal_of(shape, 2, fans.fan_in + fans.fan_out, key);
}

Tensor lecun_normal(const Shape& shape, Fans fans, RandomKey key) { return normal_of(shape, 1, fans.fan_in, key); }

Tensor he_uniform(const Shape& shape, Fans fans, RandomKey key) {
  const FloatingPointScope floating_point;
  const double bound = std::sqrt(6.0 / static_cast<double>(fans.fan_in));
  return (uniform(shape, key) * 2 - 1) * bound;
}

Tensor orthogonal(const Shape& shape, Fans, RandomKey key) {
  if (shape.empty())
    throw Error(ErrorKind::usage, 487, "orthogonal: a scalar has no columns").expected("a shape of one axis or more");
  const FloatingPointScope floating_point;
  std::vector<float> z = normal(shape, key).to_vector<float>();
  const size_t columns = static_cast<size_t>(shape.back()), rows = columns ? z.size() / columns : 0;
  const bool wide = columns > rows;
  const size_t high = wide ? columns : rows, narrow = wide ? rows : columns;
  const auto place = [=](size_t i, size_t j) { return wide ? j * high + i : i * narrow + j; };
  std::vector<double> m(z.size());
  for (size_t i = 0; i < high; ++i)
    for (size_t j = 0; j < narrow; ++j) m[i * narrow + j] = static_cast<double>(z[place(i, j)]);
  make_orthonormal(m, high, narrow);
  for (size_t i = 0; i < high; ++i)
    for (size_t j = 0; j < narrow; ++j) z[place(i, j)] = static_cast<float>(m[i * narrow + j]);
  return Tensor::from(z, shape);
}

Tensor glorot_uniform_fan_out(const Shape& shape, Fans fans, RandomKey key) {
  return glorot_uniform(shape, {fans.fan_out, fans.fan_out}, key);
}

Initializer normal_values(double deviation) {
  return [deviation](const Shape& shape, Fans, RandomKey key) {
    const FloatingPointScope floating_point;
    return normal(shape, key) * deviation;
  };
}

Initializer constant_values(double value) {
  return [value](const Shape& shape, Fans, RandomKey) { return Tensor::full(value, shape); };
}

}  // namespace retrace::nn
