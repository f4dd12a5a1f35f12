#include "retrace/ops/hard_tanh/hard_tanh.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(hard_tanh, hard_tanh(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(hard_tanh) {
  auto cases = activation_cases(
      {.op = "hard_tanh", .inputs = {{.low = -4, .high = 4, .avoid = {-1, 1}}}, .build = one(hard_tanh), .bound = {}});
  return cases;
}

}  // namespace
}  // namespace retrace
