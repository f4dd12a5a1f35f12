#include "retrace/ops/tanh/tanh.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(tanh, tanh(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(tanh) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  // Near 1 the gradient has what y was rounded by, which is much of it where it is small.
  auto cases = pointwise_cases({.op = "tanh",
                                .inputs = {{.low = -2.5, .high = 2.5}},
                                .build = one(tanh),
                                .bound = {.ulp = 1, .tiny = true},
                                .gradient = {.ulp = 4, .relative = 6e-6, .tiny = true}});
  cases.push_back({.op = "tanh",
                   .name = "whole_range",
                   .inputs = {{.shape = {4099}, .low = -10, .high = 10}},
                   .build = one(tanh),
                   .bound = {.ulp = 1, .tiny = true},
                   .differentiable = false});
  cases.push_back({.op = "tanh",
                   .name = "exact",
                   .inputs = {{.shape = {7}, .values = {0.0, -0.0, infinity, -infinity, nan, 40, -40}}},
                   .build = one(tanh),
                   .expected = {0.0, -0.0, 1, -1, nan, 1, -1},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace
