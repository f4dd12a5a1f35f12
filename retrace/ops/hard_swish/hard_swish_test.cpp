#include "retrace/ops/hard_swish/hard_swish.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/ops/testing/activation_cases.h"
#include "retrace/ops/testing/op_case_run.h"

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

TEST(HardSwish, HasTheGradientNaNAtNaN) {
  const OpCase made{.op = "",
                    .name = "special",
                    .inputs = {{.shape = {4}, .values = {__builtin_nan(""), -3, -__builtin_inf(), 3}}},
                    .build = one(hard_swish)};
  const auto gradient = loss_gradients(made, make_inputs(made, DType::f32))[0].to_vector<float>();
  EXPECT_TRUE(std::isnan(gradient[0]));
  EXPECT_EQ(gradient[1], 0);
  EXPECT_EQ(gradient[2], 0);
  EXPECT_NE(gradient[3], 0);
}

}  // namespace
}  // namespace retrace
