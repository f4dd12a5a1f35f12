#include "retrace/nn/initializers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

TEST(Initializers, count_fans) {
  EXPECT_EQ(conv2d_fans({5, 5, 1, 16}).fan_in, 25);
  EXPECT_EQ(conv2d_fans({5, 5, 1, 16}).fan_out, 400);
  EXPECT_EQ(conv2d_fans({3, 3, 2, 8}, 4).fan_in, 18);
  EXPECT_EQ(conv2d_fans({3, 3, 2, 8}, 4).fan_out, 18);
  EXPECT_EQ(transposed_conv2d_fans({2, 2, 16, 32}).fan_in, 128);
  EXPECT_EQ(transposed_conv2d_fans({2, 2, 16, 32}).fan_out, 64);
  EXPECT_EQ(linear_fans({10, 6272}).fan_in, 6272);
  EXPECT_EQ(linear_fans({10, 6272}).fan_out, 10);
}

// The largest magnitude of many draws comes close to the bound and does not pass it.
double largest(const Tensor& x) {
  double most = 0;
  for (float value : x.to_vector<float>()) most = std::max(most, std::fabs(static_cast<double>(value)));
  return most;
}

TEST(Initializers, glorot_uniform_fills_its_interval) {
  const Shape shape{5, 5, 1, 1600};
  EXPECT_NEAR(largest(glorot_uniform(shape, {25, 400}, random_key(1))), 0.118818, 0.0001);          // sqrt(6 / 425)
  EXPECT_NEAR(largest(glorot_uniform_fan_out(shape, {25, 400}, random_key(1))), 0.086603, 0.0001);  // sqrt(6 / 800)
  double sum = 0;
  for (float value : glorot_uniform(shape, {25, 400}, random_key(1)).to_vector<float>()) sum += value;
  EXPECT_NEAR(sum / 40000, 0, 0.002);
}

TEST(Initializers, he_normal_has_its_deviation) {
  double sum = 0, squares = 0;
  const auto values = he_normal({200, 200}, {50, 1}, random_key(2)).to_vector<float>();
  for (double value : values) sum += value, squares += value * value;
  EXPECT_NEAR(sum / 40000, 0, 0.004);
  EXPECT_NEAR(std::sqrt(squares / 40000), 0.2, 0.004);  // sqrt(2 / 50)
}

double deviation(const Tensor& x) {
  double squares = 0;
  const auto values = x.to_vector<float>();
  for (double value : values) squares += value * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST(Initializers, normal_values_have_their_deviations) {
  EXPECT_NEAR(deviation(glorot_normal({200, 200}, {30, 20}, random_key(3))), 0.2, 0.004);  // sqrt(2 / 50)
  EXPECT_NEAR(deviation(lecun_normal({200, 200}, {25, 1}, random_key(4))), 0.2, 0.004);    // sqrt(1 / 25)
  EXPECT_NEAR(deviation(normal_values(0.02)({200, 200}, {}, random_key(5))), 0.02, 0.0004);
}

TEST(Initializers, he_uniform_fills_its_interval) {
  EXPECT_NEAR(largest(he_uniform({5, 5, 1, 1600}, {24, 1}, random_key(6))), 0.5, 0.0005);  // sqrt(6 / 24)
}

// The largest distance of products of columns from the identity.
double distance_from_orthonormal(const std::vector<float>& m, size_t rows, size_t columns, bool transposed) {
  double most = 0;
  const auto at = [&](size_t i, size_t j) {
    return static_cast<double>(transposed ? m[j * rows + i] : m[i * columns + j]);
  };
  for (size_t j = 0; j < columns; ++j)
    for (size_t k = 0; k < columns; ++k) {
      double sum = j == k ? -1 : 0;
      for (size_t i = 0; i < rows; ++i) sum += at(i, j) * at(i, k);
      most = std::max(most, std::fabs(sum));
    }
  return most;
}

TEST(Initializers, orthogonal_matrices_have_orthonormal_rows_or_columns) {
  const auto values = [](const Shape& shape) { return orthogonal(shape, {}, random_key(7)).to_vector<float>(); };
  EXPECT_LT(distance_from_orthonormal(values({96, 40}), 96, 40, false), 1e-6);
  EXPECT_LT(distance_from_orthonormal(values({150, 150}), 150, 150, false), 1e-6);
  EXPECT_LT(distance_from_orthonormal(values({40, 96}), 96, 40, true), 1e-6);
  EXPECT_LT(distance_from_orthonormal(values({3, 3, 4, 16}), 36, 16, false), 1e-6);
  EXPECT_LT(distance_from_orthonormal(values({7}), 7, 1, true), 1e-6);
  EXPECT_TRUE(values({0, 4}).empty());
  EXPECT_NE(error_of([] { orthogonal({}, {}, random_key(1)); }).find("RT0487"), std::string::npos);
}

TEST(Initializers, constant_values) {
  EXPECT_EQ(constant_values(0)({2}, {}, random_key(1)).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(constant_values(1)({2}, {}, random_key(1)).to_vector<float>(), (std::vector<float>{1, 1}));
}

}  // namespace
}  // namespace retrace::nn
