#include "retrace/ops/pow/pow.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

Tensor power(const Tensor& x, const Tensor& y, Place place) { return pow(x, y, place); }

OP_EXAMPLE(pow, pow(Tensor::from<float>({1, 2, 3}, {3}), 2));

OP_CASES(pow) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  auto cases = pointwise_cases({.op = "pow",
                                .inputs = {{.low = 0.25, .high = 3}, {.low = -2, .high = 2}},
                                .build = two(power),
                                .bound = {.ulp = 2, .tiny = true}});
  cases.push_back({.op = "pow",
                   .name = "whole_exponents",
                   .inputs = {{.shape = {9, 1}, .values = {-2, -1.5, -0.75, 0.75, 1.25, 1.75, -1, 1, 2}},
                              {.shape = {7}, .values = {-3, -2, -1, 0, 1, 2, 3}, .fixed = true}},
                   .build = two(power),
                   .bound = {.ulp = 2, .tiny = true}});
  cases.push_back({.op = "pow",
                   .name = "exact",
                   .inputs = {{.shape = {10}, .values = {0.0, nan, 1, -2, -2, -8, -0.0, 0.0, infinity, 2}},
                              {.shape = {10}, .values = {0.0, 0.0, nan, 3, -2, 0.5, -1, -2, -1, 200}}},
                   .build = two(power),
                   .bound = {.tiny = true},
                   .expected = {1, 1, 1, -8, 0.25, nan, -infinity, infinity, 0.0, infinity},
                   .differentiable = false});
  return cases;
}

TEST(Pow, takes_a_number) {
  const Tensor x = Tensor::from<float>({3, -2}, {2});
  EXPECT_EQ(pow(x, 2).to_vector<float>(), (std::vector<float>{9, 4}));
  EXPECT_EQ(pow(x, 3.0).to_vector<float>(), (std::vector<float>{27, -8}));
}

// dx and dy for dz of some size: 0 where x^y does not change.
TEST(Pow, has_no_slope_where_the_exponent_or_the_base_is_zero) {
  const OpCase zeros{.op = "pow",
                     .name = "zeros",
                     .inputs = {{.shape = {5}, .values = {0.0, -0.0, 0.0, 3, __builtin_inf()}},
                                {.shape = {5}, .values = {0.0, 0.0, 2, 0.0, 0.0}}},
                     .build = two(power)};
  const auto gradients = loss_gradients(zeros, make_inputs(zeros, DType::f32));
  EXPECT_EQ(gradients[0].to_vector<float>(), (std::vector<float>{0, 0, 0, 0, 0}));
  const auto of_exponent = gradients[1].to_vector<float>();
  EXPECT_EQ(of_exponent[0], 0);
  EXPECT_EQ(of_exponent[1], 0);
  EXPECT_EQ(of_exponent[2], 0);
  EXPECT_GT(of_exponent[3], 0.5f);
}

}  // namespace
}  // namespace retrace
