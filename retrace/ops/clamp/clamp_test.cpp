#include "retrace/ops/clamp/clamp.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

const CaseFunction kByNumbers = [](const std::vector<Tensor>& in) { return std::vector{clamp(in[0], -1, 0.5)}; };
const CaseFunction kByTensors = [](const std::vector<Tensor>& in) { return std::vector{clamp(in[0], in[1], in[2])}; };

OP_EXAMPLE(clamp, clamp(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5}), -1, 1));

OP_CASES(clamp) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  std::vector<OpCase> cases;
  cases.push_back({.op = "maximum",
                   .name = "of_clamp_by_numbers",
                   .inputs = {{.shape = {3, 5, 7}, .avoid = {-1, 0.5}}},
                   .build = kByNumbers});
  cases.push_back({.op = "minimum",
                   .name = "of_clamp_by_tensors",
                   .inputs = {{.shape = {4, 3, 5}},
                              {.shape = {5}, .values = {-1, -0.5, -1.5, -0.25, 0.0625}},
                              {.shape = {3, 1}, .values = {0.5, 1, 1.5}, .fixed = true}},
                   .build = kByTensors});
  cases.push_back({.op = "minimum",
                   .name = "of_clamp_exact",
                   .inputs = {{.shape = {7}, .values = {-3, -1, 0.25, 2, nan, infinity, 1}},
                              {.shape = {7}, .values = {-1, -1, -1, -1, -1, -1, nan}},
                              {.shape = {7}, .values = {1, 1, 1, -2, 1, 1, 1}}},
                   .build = kByTensors,
                   .expected = {-1, -1, 0.25, -2, nan, 1, nan},
                   .differentiable = false});
  cases.push_back({.op = "minimum",
                   .name = "of_clamp_integers",
                   .inputs = {{.shape = {3}, .type = DType::i32, .values = {-7, 16777217, 3}}},
                   .build = [](const std::vector<Tensor>& in) { return std::vector{clamp(in[0], -5, 16777216)}; },
                   .expected = {-5, 16777216, 3},
                   .differentiable = false});
  return cases;
}

TEST(Clamp, GivesTheGradientToXAtItsLimits) {
  const OpCase limits{
      .op = "", .name = "limits", .inputs = {{.shape = {4}, .values = {-1, 0.5, -1.5, 3}}}, .build = kByNumbers};
  const auto gradient = loss_gradients(limits, make_inputs(limits, DType::f32))[0].to_vector<float>();
  EXPECT_GT(gradient[0], 0);
  EXPECT_GT(gradient[1], 0);
  EXPECT_EQ(gradient[2], 0);
  EXPECT_EQ(gradient[3], 0);
}

}  // namespace
}  // namespace retrace
