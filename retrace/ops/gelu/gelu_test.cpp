#include "retrace/ops/gelu/gelu.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(gelu, gelu(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(gelu) {
  auto cases = activation_cases({.op = "gelu",
                                 .inputs = {{.low = -4, .high = 4}},
                                 .build = one(gelu),
                                 .bound = {.ulp = 4, .relative = 2e-7, .tiny = true}});
  return cases;
}

}  // namespace
}  // namespace retrace
