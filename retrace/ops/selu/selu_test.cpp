#include "retrace/ops/selu/selu.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(selu, selu(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(selu) {
  auto cases = activation_cases({.op = "selu",
                                 .inputs = {{.low = -4, .high = 4, .avoid = {0}}},
                                 .build = one(selu),
                                 .bound = {.ulp = 4, .relative = 2e-7, .tiny = true}});
  return cases;
}

}  // namespace
}  // namespace retrace
