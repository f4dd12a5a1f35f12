#include "retrace/ops/clipped_relu/clipped_relu.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

CaseFunction at(double ceiling) {
  return [ceiling](const std::vector<Tensor>& in) { return std::vector<Tensor>{clipped_relu(in[0], ceiling)}; };
}

OP_EXAMPLE(clipped_relu, clipped_relu(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5}), 1));

OP_CASES(clipped_relu) {
  auto cases = pointwise_cases({.op = "clipped_relu", .inputs = {{.avoid = {0, 1}}}, .build = at(1)});
  cases.push_back(
      {.op = "clipped_relu",
       .name = "a_tensor_as_ceiling",
       .inputs = {{.shape = {5, 7}, .avoid = {0, 1.25}}, {.values = {1.25}}},
       .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{clipped_relu(in[0], in[1])}; }});
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  cases.push_back({.op = "clipped_relu",
                   .name = "exact",
                   .inputs = {{.shape = {8}, .values = {-0.0, 0.0, -1, 0.5, 1, 2, infinity, nan}}},
                   .build = at(1),
                   .expected = {-0.0, 0.0, 0.0, 0.5, 1, 1, 1, nan},
                   .differentiable = false});
  return cases;
}

TEST(ClippedRelu, has_slope_at_the_ceiling_and_none_at_zero) {
  const OpCase ties{.op = "clipped_relu",
                    .name = "ties",
                    .inputs = {{.shape = {4}, .values = {0.0, -0.0, 1.0, 1.5}}},
                    .build = at(1)};
  const auto gradient = loss_gradients(ties, make_inputs(ties, DType::f32))[0].to_vector<float>();
  EXPECT_EQ(gradient[0], 0);
  EXPECT_EQ(gradient[1], 0);
  EXPECT_GT(gradient[2], 0);
  EXPECT_EQ(gradient[3], 0);
}

TEST(ClippedRelu, refuses_a_ceiling_with_axes) {
  EXPECT_EQ(error_text([] { clipped_relu(Tensor::zeros({2}), Tensor::zeros({2}), {"model.cpp", 7}); }),
            "error[RT0133]: clipped_relu: the ceiling has 1 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      the ceiling f32[2]\n"
            "  expected: a single number\n"
            "  help:     give a number, or reshape the ceiling to {}");
}

TEST(ClippedRelu, refuses_other_types) {
  EXPECT_EQ(error_text([&] { clipped_relu(Tensor::zeros({2}, DType::i32), 1, {"model.cpp", 7}); }),
            "error[RT0131]: clipped_relu: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
  EXPECT_EQ(error_text([&] { clipped_relu(Tensor::zeros({2}), Tensor::zeros({}, DType::f64), {"model.cpp", 7}); }),
            "error[RT0132]: clipped_relu: the arguments have the types f32 and f64\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2] and the ceiling f64[]\n"
            "  expected: one type\n"
            "  help:     cast(the ceiling, DType::f32)");
}

}  // namespace
}  // namespace retrace
