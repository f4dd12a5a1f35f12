#include "retrace/ops/mish/mish.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(mish, mish(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(mish) {
  auto cases = activation_cases({.op = "mish",
                                 .inputs = {{.low = -4, .high = 4}},
                                 .build = one(mish),
                                 .bound = {.ulp = 4, .relative = 2e-7, .tiny = true}});
  return cases;
}

}  // namespace
}  // namespace retrace
