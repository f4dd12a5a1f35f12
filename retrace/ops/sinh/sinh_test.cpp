#include "retrace/ops/sinh/sinh.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(sinh, sinh(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(sinh) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  auto cases = pointwise_cases(
      {.op = "sinh", .inputs = {{.low = -3, .high = 3}}, .build = one(sinh), .bound = {.ulp = 3, .tiny = true}});
  cases.push_back({.op = "sinh",
                   .name = "whole_range",
                   .inputs = {{.shape = {4099}, .low = -90, .high = 90}},
                   .build = one(sinh),
                   .bound = {.ulp = 3, .tiny = true},
                   .differentiable = false});
  cases.push_back({.op = "sinh",
                   .name = "exact",
                   .inputs = {{.shape = {7}, .values = {0.0, -0.0, infinity, -infinity, nan, 100, -100}}},
                   .build = one(sinh),
                   .expected = {0.0, -0.0, infinity, -infinity, nan, infinity, -infinity},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace
