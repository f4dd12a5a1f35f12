#include "retrace/ops/expm1/expm1.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(expm1, expm1(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(expm1) {
  auto cases = pointwise_cases(
      {.op = "expm1", .inputs = {{.low = -3, .high = 3}}, .build = one(expm1), .bound = {.ulp = 1, .tiny = true}});
  cases.push_back({.op = "expm1",
                   .name = "near_zero",
                   .inputs = {{.shape = {4099}, .low = -0.0001, .high = 0.0001}},
                   .build = one(expm1),
                   .bound = {.ulp = 1}});
  cases.push_back(
      {.op = "expm1",
       .name = "exact",
       .inputs = {{.shape = {5}, .values = {0.0, -0.0, __builtin_inf(), -__builtin_inf(), __builtin_nan("")}}},
       .build = one(expm1),
       .expected = {0.0, -0.0, __builtin_inf(), -1, __builtin_nan("")},
       .differentiable = false});
  return cases;
}

TEST(Expm1, refuses_integers) {
  EXPECT_EQ(error_text([] { expm1(Tensor::zeros({2}, DType::i32), {"model.cpp", 7}); }),
            "error[RT0131]: expm1: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
}

}  // namespace
}  // namespace retrace
