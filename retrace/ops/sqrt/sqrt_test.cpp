#include "retrace/ops/sqrt/sqrt.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(sqrt, sqrt(Tensor::from<float>({0.25, 1, 2, 4}, {4})));

OP_CASES(sqrt) {
  auto cases = pointwise_cases({.op = "sqrt", .inputs = {{.low = 0.25, .high = 4}}, .build = one(sqrt)});
  cases.push_back({.op = "sqrt",
                   .name = "exact",
                   .inputs = {{.shape = {5}, .values = {-0.0, -1.0, 4.0, __builtin_inf(), 0x1p-148}}},
                   .build = one(sqrt),
                   .expected = {-0.0, __builtin_nan(""), 2, __builtin_inf(), 0x1p-74},
                   .differentiable = false});
  return cases;
}

TEST(Sqrt, refuses_integers) {
  EXPECT_EQ(error_text([] { sqrt(Tensor::zeros({2}, DType::i32), {"model.cpp", 7}); }),
            "error[RT0131]: sqrt: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
}

}  // namespace
}  // namespace retrace
