#include "retrace/ops/exp/exp.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(exp, exp(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(exp) {
  auto cases = pointwise_cases(
      {.op = "exp", .inputs = {{.low = -6, .high = 6}}, .build = one(exp), .bound = {.ulp = 1, .tiny = true}});
  cases.push_back({.op = "exp",
                   .name = "whole_range",
                   .inputs = {{.shape = {4099}, .low = -104, .high = 90}},
                   .build = one(exp),
                   .bound = {.ulp = 1, .tiny = true},
                   .differentiable = false});
  cases.push_back(
      {.op = "exp",
       .name = "exact",
       .inputs = {{.shape = {7},
                   .values = {0.0, -0.0, __builtin_inf(), -__builtin_inf(), __builtin_nan(""), -100.0, 89.0}}},
       .build = one(exp),
       .bound = {.tiny = true},
       .expected = {1, 1, __builtin_inf(), 0.0, __builtin_nan(""), 0.0, __builtin_inf()},
       .differentiable = false});
  return cases;
}

TEST(Exp, refuses_integers) {
  EXPECT_EQ(error_text([] { exp(Tensor::zeros({2}, DType::i32), {"model.cpp", 7}); }),
            "error[RT0131]: exp: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
}

}  // namespace
}  // namespace retrace
