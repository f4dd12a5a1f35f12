#include "retrace/ops/gelu_tanh/gelu_tanh.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(gelu_tanh, gelu_tanh(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(gelu_tanh) {
  auto cases = activation_cases({.op = "gelu_tanh",
                                 .inputs = {{.low = -4, .high = 4}},
                                 .build = one(gelu_tanh),
                                 .bound = {.ulp = 4, .relative = 2e-7, .tiny = true}});
  return cases;
}

}  // namespace
}  // namespace retrace
