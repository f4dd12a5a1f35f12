#include "retrace/ops/softplus/softplus.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(softplus, softplus(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(softplus) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  auto cases = pointwise_cases({.op = "softplus",
                                .inputs = {{.low = -6, .high = 6}},
                                .build = one(softplus),
                                .bound = {.ulp = 1, .tiny = true}});
  cases.push_back({.op = "softplus",
                   .name = "whole_range",
                   .inputs = {{.shape = {4099}, .low = -104, .high = 90}},
                   .build = one(softplus),
                   .bound = {.ulp = 1, .tiny = true},
                   .differentiable = false});
  cases.push_back({.op = "softplus",
                   .name = "exact",
                   .inputs = {{.shape = {6}, .values = {infinity, -infinity, nan, -100, 100, 0x1.fffffep127}}},
                   .build = one(softplus),
                   .bound = {.tiny = true},
                   .expected = {infinity, 0.0, nan, 0.0, 100, 0x1.fffffep127},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace
