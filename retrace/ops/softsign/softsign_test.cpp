#include "retrace/ops/softsign/softsign.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(softsign, softsign(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(softsign) {
  auto cases = activation_cases({.op = "softsign",
                                 .inputs = {{.low = -4, .high = 4, .avoid = {0}}},
                                 .build = one(softsign),
                                 .bound = {.ulp = 2, .tiny = true}});
  return cases;
}

}  // namespace
}  // namespace retrace
