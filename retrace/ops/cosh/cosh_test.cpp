#include "retrace/ops/cosh/cosh.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(cosh, cosh(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(cosh) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  auto cases = pointwise_cases(
      {.op = "cosh", .inputs = {{.low = -3, .high = 3}}, .build = one(cosh), .bound = {.ulp = 2, .tiny = true}});
  cases.push_back({.op = "cosh",
                   .name = "whole_range",
                   .inputs = {{.shape = {4099}, .low = -90, .high = 90}},
                   .build = one(cosh),
                   .bound = {.ulp = 2, .tiny = true},
                   .differentiable = false});
  cases.push_back({.op = "cosh",
                   .name = "exact",
                   .inputs = {{.shape = {7}, .values = {0.0, -0.0, infinity, -infinity, nan, 100, -100}}},
                   .build = one(cosh),
                   .expected = {1, 1, infinity, infinity, nan, infinity, infinity},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace
