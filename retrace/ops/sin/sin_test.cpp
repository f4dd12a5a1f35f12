#include "retrace/ops/sin/sin.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(sin, sin(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(sin) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  auto cases = pointwise_cases(
      {.op = "sin", .inputs = {{.low = -8, .high = 8}}, .build = one(sin), .bound = {.ulp = 2, .tiny = true}});
  cases.push_back({.op = "sin",
                   .name = "large_angles",
                   .inputs = {{.shape = {4099}, .low = -1e30, .high = 1e30}},
                   .build = one(sin),
                   .bound = {.ulp = 2, .tiny = true},
                   .differentiable = false});
  cases.push_back({.op = "sin",
                   .name = "exact",
                   .inputs = {{.shape = {5}, .values = {0.0, -0.0, infinity, -infinity, nan}}},
                   .build = one(sin),
                   .expected = {0.0, -0.0, nan, nan, nan},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace
