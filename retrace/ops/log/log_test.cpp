#include "retrace/ops/log/log.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(log, log(Tensor::from<float>({0.25, 1, 2, 4}, {4})));

OP_CASES(log) {
  auto cases =
      pointwise_cases({.op = "log", .inputs = {{.low = 0.25, .high = 6}}, .build = one(log), .bound = {.ulp = 1}});
  cases.push_back({.op = "log",
                   .name = "wide",
                   .inputs = {{.shape = {4099}, .low = 0, .high = 1e30}},
                   .build = one(log),
                   .bound = {.ulp = 1},
                   .differentiable = false});
  cases.push_back(
      {.op = "log",
       .name = "exact",
       .inputs = {{.shape = {6}, .values = {1.0, 0.0, -0.0, __builtin_inf(), -1.0, __builtin_nan("")}}},
       .build = one(log),
       .expected = {0.0, -__builtin_inf(), -__builtin_inf(), __builtin_inf(), __builtin_nan(""), __builtin_nan("")},
       .differentiable = false});
  return cases;
}

TEST(Log, refuses_integers) {
  EXPECT_EQ(error_text([] { log(Tensor::zeros({2}, DType::i32), {"model.cpp", 7}); }),
            "error[RT0131]: log: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
}

}  // namespace
}  // namespace retrace
