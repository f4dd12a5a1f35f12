#include "retrace/ops/tan/tan.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(tan, tan(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(tan) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  auto cases = pointwise_cases(
      {.op = "tan", .inputs = {{.low = -1.25, .high = 1.25}}, .build = one(tan), .bound = {.ulp = 3, .tiny = true}});
  cases.push_back({.op = "tan",
                   .name = "large_angles",
                   .inputs = {{.shape = {4099}, .low = -1e30, .high = 1e30}},
                   .build = one(tan),
                   .bound = {.ulp = 3, .tiny = true},
                   .differentiable = false});
  cases.push_back({.op = "tan",
                   .name = "exact",
                   .inputs = {{.shape = {5}, .values = {0.0, -0.0, infinity, -infinity, nan}}},
                   .build = one(tan),
                   .expected = {0.0, -0.0, nan, nan, nan},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace
