#include "retrace/ops/log_sigmoid/log_sigmoid.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(log_sigmoid, log_sigmoid(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(log_sigmoid) {
  auto cases = activation_cases({.op = "log_sigmoid",
                                 .inputs = {{.low = -4, .high = 4}},
                                 .build = one(log_sigmoid),
                                 .bound = {.ulp = 1, .tiny = true}});
  return cases;
}

}  // namespace
}  // namespace retrace
