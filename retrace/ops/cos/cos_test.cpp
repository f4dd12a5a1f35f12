#include "retrace/ops/cos/cos.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(cos, cos(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(cos) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  auto cases = pointwise_cases(
      {.op = "cos", .inputs = {{.low = -8, .high = 8}}, .build = one(cos), .bound = {.ulp = 2, .tiny = true}});
  cases.push_back({.op = "cos",
                   .name = "large_angles",
                   .inputs = {{.shape = {4099}, .low = -1e30, .high = 1e30}},
                   .build = one(cos),
                   .bound = {.ulp = 2, .tiny = true},
                   .differentiable = false});
  cases.push_back({.op = "cos",
                   .name = "exact",
                   .inputs = {{.shape = {5}, .values = {0.0, -0.0, infinity, -infinity, nan}}},
                   .build = one(cos),
                   .expected = {1, 1, nan, nan, nan},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace
