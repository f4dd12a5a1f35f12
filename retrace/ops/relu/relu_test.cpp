#include "retrace/ops/relu/relu.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

OP_EXAMPLE(relu, relu(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(relu) {
  auto cases = pointwise_cases({.op = "relu", .inputs = {{.avoid = {0}}}, .build = one(relu), .bound = {}});
  cases.push_back(
      {.op = "relu",
       .name = "exact",
       .inputs = {{.shape = {8},
                   .values = {-0.0, 0.0, -1.0, 2.0, __builtin_inf(), -__builtin_inf(), __builtin_nan(""), -0x1p-149}}},
       .build = one(relu),
       .expected = {-0.0, 0.0, 0.0, 2.0, __builtin_inf(), 0.0, __builtin_nan(""), 0.0},
       .differentiable = false});
  return cases;
}

TEST(Relu, refuses_integers) {
  EXPECT_EQ(error_text([] { relu(Tensor::zeros({2}, DType::i32), {"model.cpp", 7}); }),
            "error[RT0131]: relu: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
}

TEST(Relu, has_no_slope_at_zero) {
  const OpCase at_zero{
      .op = "relu", .name = "zero", .inputs = {{.shape = {3}, .values = {0.0, -0.0, 1.0}}}, .build = one(relu)};
  const auto gradient = loss_gradients(at_zero, make_inputs(at_zero, DType::f32))[0].to_vector<float>();
  EXPECT_EQ(gradient[0], 0);
  EXPECT_EQ(gradient[1], 0);
  EXPECT_GT(gradient[2], 0);
}

}  // namespace
}  // namespace retrace
