#include "retrace/ops/abs/abs.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

OP_EXAMPLE(abs, abs(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(abs) {
  auto cases = pointwise_cases({.op = "abs", .inputs = {{.avoid = {0}}}, .build = one(abs), .bound = {}});
  cases.push_back(
      {.op = "abs",
       .name = "exact",
       .inputs = {{.shape = {7},
                   .values = {-0.0, 0.0, -1.5, __builtin_inf(), -__builtin_inf(), __builtin_nan(""), -0x1p-149}}},
       .build = one(abs),
       .expected = {0.0, 0.0, 1.5, __builtin_inf(), __builtin_inf(), __builtin_nan(""), 0x1p-149},
       .differentiable = false});
  cases.push_back({.op = "abs",
                   .name = "integers_wrap",
                   .inputs = {{.shape = {4}, .type = DType::i32, .values = {5, -5, -2147483648.0, 0}}},
                   .build = one(abs),
                   .expected = {5, 5, -2147483648.0, 0},
                   .differentiable = false});
  return cases;
}

TEST(Abs, has_no_slope_at_zero) {
  const OpCase at_zero{
      .op = "abs", .name = "zero", .inputs = {{.shape = {4}, .values = {0.0, -0.0, 1.0, -1.0}}}, .build = one(abs)};
  const auto gradient = loss_gradients(at_zero, make_inputs(at_zero, DType::f32))[0].to_vector<float>();
  EXPECT_EQ(gradient[0], 0);
  EXPECT_EQ(gradient[1], 0);
  EXPECT_GT(gradient[2], 0);
  EXPECT_LT(gradient[3], 0);
}

}  // namespace
}  // namespace retrace
