#include "retrace/ops/leaky_relu/leaky_relu.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

OP_EXAMPLE(leaky_relu, leaky_relu(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5}), 0.1));

OP_CASES(leaky_relu) {
  const CaseFunction number = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{leaky_relu(in[0], 0.25)};
  };
  const CaseFunction tensor = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{leaky_relu(in[0], in[1])};
  };
  auto cases = activation_cases(
      {.op = "leaky_relu", .inputs = {{.avoid = {0}}}, .build = number, .bound = {.ulp = 2, .tiny = true}});
  cases.push_back({.op = "leaky_relu",
                   .name = "a_factor_for_each_channel",
                   .inputs = {{.shape = {4, 3, 5}, .labels = "BSC", .avoid = {0}}, {.shape = {5}, .labels = "C"}},
                   .build = tensor,
                   .bound = {.ulp = 2, .tiny = true}});
  return cases;
}

TEST(LeakyRelu, has_a_standard_factor) {
  const Tensor x = Tensor::from<float>({-1, 2}, {2});
  EXPECT_EQ(bit_difference(leaky_relu(x), leaky_relu(x, 0.01)), "");
  EXPECT_EQ(leaky_relu(x).to_vector<float>()[1], 2);
  EXPECT_LT(leaky_relu(x).to_vector<float>()[0], 0);
}

}  // namespace
}  // namespace retrace
