#include "retrace/ops/atan2/atan2.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

Tensor angle(const Tensor& y, const Tensor& x, Place place) { return atan2(y, x, place); }

OP_EXAMPLE(atan2, atan2(Tensor::from<float>({1, 1, -1}, {3}), Tensor::from<float>({1, -1, -1}, {3})));
OP_EXAMPLE(atan, atan(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(atan2) {
  const double infinity = __builtin_inf(), nan = __builtin_nan(""), pi = 0x1.921fb54442d18p1;
  auto cases = pointwise_cases({.op = "atan2",
                                .inputs = {{.avoid = {0.0}}, {.avoid = {0.0}}},
                                .build = two(angle),
                                .bound = {.ulp = 1.5, .tiny = true},
                                .gradient = {.ulp = 8, .relative = 2e-6, .tiny = true}});
  cases.push_back({.op = "atan2",
                   .name = "exact",
                   .inputs = {{.shape = {8}, .values = {0.0, -0.0, 0.0, -0.0, 1, -1, 1, nan}},
                              {.shape = {8}, .values = {0.0, 0.0, -0.0, -1, 0.0, -0.0, -infinity, 1}}},
                   .build = two(angle),
                   .expected = {0.0, -0.0, pi, -pi, pi / 2, -pi / 2, pi, nan},
                   .differentiable = false});
  for (auto& made :
       activation_cases({.op = "atan2", .name = "of_atan_", .build = one(atan), .bound = {.ulp = 1.5, .tiny = true}})) {
    cases.push_back(made);
  }
  return cases;
}

TEST(Atan2, HasNoSlopeAtTheOrigin) {
  const OpCase origin{.op = "atan2",
                      .name = "origin",
                      .inputs = {{.shape = {2}, .values = {0.0, 3}}, {.shape = {2}, .values = {-0.0, 4}}},
                      .build = two(angle)};
  const auto gradients = loss_gradients(origin, make_inputs(origin, DType::f32));
  EXPECT_EQ(gradients[0].to_vector<float>()[0], 0);
  EXPECT_EQ(gradients[1].to_vector<float>()[0], 0);
  EXPECT_GT(gradients[0].to_vector<float>()[1], 0);
  EXPECT_LT(gradients[1].to_vector<float>()[1], 0);
}

TEST(Atan2, TakesANumber) {
  EXPECT_EQ(atan2(Tensor::from<float>({0, 1}, {2}), 0.0f).to_vector<float>(), (std::vector<float>{0, 0x1.921fb6p0f}));
  EXPECT_NE(error_text([] { atan(Tensor::zeros({2}, DType::i32)); }).find("atan2: x is i32"), std::string::npos);
}

}  // namespace
}  // namespace retrace
