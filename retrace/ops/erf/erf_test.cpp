#include "retrace/ops/erf/erf.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(erf, erf(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(erf) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  auto cases = pointwise_cases(
      {.op = "erf", .inputs = {{.low = -3, .high = 3}}, .build = one(erf), .bound = {.ulp = 1, .tiny = true}});
  cases.push_back({.op = "erf",
                   .name = "whole_range",
                   .inputs = {{.shape = {4099}, .low = -5, .high = 5}},
                   .build = one(erf),
                   .bound = {.ulp = 1, .tiny = true},
                   .differentiable = false});
  cases.push_back({.op = "erf",
                   .name = "exact",
                   .inputs = {{.shape = {7}, .values = {0.0, -0.0, infinity, -infinity, nan, 7, -7}}},
                   .build = one(erf),
                   .expected = {0.0, -0.0, 1, -1, nan, 1, -1},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace
