#include "retrace/ops/sigmoid/sigmoid.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(sigmoid, sigmoid(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(sigmoid) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  // Near 1 the gradient has what y was rounded by, which is much of it where it is small.
  auto cases = pointwise_cases({.op = "sigmoid",
                                .inputs = {{.low = -6, .high = 4}},
                                .build = one(sigmoid),
                                .bound = {.ulp = 1, .tiny = true},
                                .gradient = {.ulp = 4, .relative = 6e-6, .tiny = true}});
  cases.push_back({.op = "sigmoid",
                   .name = "whole_range",
                   .inputs = {{.shape = {4099}, .low = -104, .high = 20}},
                   .build = one(sigmoid),
                   .bound = {.ulp = 1, .tiny = true},
                   .differentiable = false});
  cases.push_back({.op = "sigmoid",
                   .name = "exact",
                   .inputs = {{.shape = {7}, .values = {0.0, -0.0, infinity, -infinity, nan, -100, 40}}},
                   .build = one(sigmoid),
                   .bound = {.tiny = true},
                   .expected = {0.5, 0.5, 1, 0.0, nan, 0.0, 1},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace
