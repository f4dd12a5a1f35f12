#include "retrace/ops/hard_sigmoid/hard_sigmoid.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(hard_sigmoid, hard_sigmoid(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(hard_sigmoid) {
  auto cases = activation_cases({.op = "hard_sigmoid",
                                 .inputs = {{.low = -4, .high = 4, .avoid = {-3, 3}}},
                                 .build = one(hard_sigmoid),
                                 .bound = {.ulp = 2, .relative = 2e-7}});
  return cases;
}

}  // namespace
}  // namespace retrace
