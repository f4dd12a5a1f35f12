#include "retrace/ops/hard_swish/hard_swish.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(hard_swish, hard_swish(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(hard_swish) {
  auto cases = activation_cases({.op = "hard_swish",
                                 .inputs = {{.low = -4, .high = 4, .avoid = {-3, 3}}},
                                 .build = one(hard_swish),
                                 .bound = {.ulp = 4, .relative = 2e-7, .tiny = true}});
  return cases;
}

}  // namespace
}  // namespace retrace
