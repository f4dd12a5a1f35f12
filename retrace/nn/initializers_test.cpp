#include "retrace/nn/initializers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

TEST(Initializers, constant_values) {
  EXPECT_EQ(constant_values(0)({2}, {}, random_key(1)).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(constant_values(1)({2}, {}, random_key(1)).to_vector<float>(), (std::vector<float>{1, 1}));
}

}  // namespace
}  // namespace retrace::nn
