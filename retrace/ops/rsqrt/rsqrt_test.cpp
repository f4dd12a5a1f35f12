#include "retrace/ops/rsqrt/rsqrt.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(rsqrt, rsqrt(Tensor::from<float>({0.25, 1, 2, 4}, {4})));

OP_CASES(rsqrt) {
  auto cases =
      pointwise_cases({.op = "rsqrt", .inputs = {{.low = 0.25, .high = 4}}, .build = one(rsqrt), .bound = {.ulp = 1}});
  cases.push_back({.op = "rsqrt",
                   .name = "exact",
                   .inputs = {{.shape = {6}, .values = {4.0, 0.0, -0.0, __builtin_inf(), -1.0, 0x1p-148}}},
                   .build = one(rsqrt),
                   .expected = {0.5, __builtin_inf(), -__builtin_inf(), 0.0, __builtin_nan(""), 0x1p74},
                   .differentiable = false});
  return cases;
}

TEST(Rsqrt, refuses_integers) {
  EXPECT_EQ(error_text([] { rsqrt(Tensor::zeros({2}, DType::i32), {"model.cpp", 7}); }),
            "error[RT0131]: rsqrt: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
}

}  // namespace
}  // namespace retrace
