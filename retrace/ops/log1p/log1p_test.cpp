#include "retrace/ops/log1p/log1p.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(log1p, log1p(Tensor::from<float>({-0.5, 0, 1e-08, 1}, {4})));

OP_CASES(log1p) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  auto cases = pointwise_cases(
      {.op = "log1p", .inputs = {{.low = -0.75, .high = 3}}, .build = one(log1p), .bound = {.ulp = 1, .tiny = true}});
  cases.push_back({.op = "log1p",
                   .name = "wide",
                   .inputs = {{.shape = {4099}, .low = -1, .high = 1e30}},
                   .build = one(log1p),
                   .bound = {.ulp = 1, .tiny = true},
                   .differentiable = false});
  cases.push_back({.op = "log1p",
                   .name = "exact",
                   .inputs = {{.shape = {7}, .values = {0.0, -0.0, -1.0, -1.5, infinity, -infinity, nan}}},
                   .build = one(log1p),
                   .expected = {0.0, -0.0, -infinity, nan, infinity, nan, nan},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace
