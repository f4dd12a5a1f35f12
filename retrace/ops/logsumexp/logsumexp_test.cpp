#include "retrace/ops/logsumexp/logsumexp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "retrace/ops/testing/op_case_run.h"
#include "retrace/ops/testing/reduce_cases.h"

namespace retrace {
namespace {

std::vector<Tensor> logarithms(const Tensor& x, const Reduced& how) {
  return {logsumexp(x, how.axes, {.keep = how.keep})};
}

OP_EXAMPLE(logsumexp, logsumexp(Tensor::from<float>({1, 5, 2, 7, 0, 3}, {2, 3}), 1));

OP_EXAMPLE(log_softmax, log_softmax(Tensor::from<float>({0, 0, 100, 100}, {2, 2}), 0));

OP_CASES(logsumexp) {
  auto cases = reduction_cases({.op = "logsumexp",
                                .inputs = {{}},
                                .bound = {.ulp = 4, .relative = 2e-6, .tiny = true},
                                .gradient = {.ulp = 16, .relative = 4e-6, .tiny = true}},
                               logarithms, {.empty = false});
  std::erase_if(cases, [](const OpCase& one) { return one.name.find("special") != std::string::npos; });
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  cases.push_back(
      {.op = "logsumexp",
       .name = "exact",
       .inputs = {{.shape = {5, 2},
                   .values = {-infinity, -infinity, infinity, -infinity, -infinity, 100, nan, 1, 1e30, -1e30}}},
       .build = [](const std::vector<Tensor>& in) { return std::vector{logsumexp(in[0], -1)}; },
       .expected = {-infinity, infinity, 100, nan, 1e30f},
       .differentiable = false});
  return cases;
}

TEST(Logsumexp, HasTheGradientOfSoftmaxAndNoneOfNothing) {
  const double infinity = __builtin_inf();
  const OpCase made{.op = "",
                    .name = "infinite",
                    .inputs = {{.shape = {2, 2}, .values = {-infinity, -infinity, 100, -infinity}}},
                    .build = [](const std::vector<Tensor>& in) { return std::vector{logsumexp(in[0], 1)}; }};
  const auto gradient = loss_gradients(made, make_inputs(made, DType::f32))[0].to_vector<float>();
  EXPECT_EQ(gradient[0], 0);
  EXPECT_EQ(gradient[1], 0);
  EXPECT_GT(gradient[2], 0);
  EXPECT_EQ(gradient[3], 0);
}

// dy * exp(x - y), as PyTorch: 0 beside an infinite element, NaN for it and for a line with a NaN.
TEST(Logsumexp, HasTheGradientOfTheFormulaWhereYIsNotFinite) {
  const double infinity = __builtin_inf();
  const OpCase made{.op = "",
                    .name = "not finite",
                    .inputs = {{.shape = {2, 2}, .values = {1, infinity, __builtin_nan(""), 1}}},
                    .build = [](const std::vector<Tensor>& in) { return std::vector{logsumexp(in[0], 1)}; }};
  const auto gradient = loss_gradients(made, make_inputs(made, DType::f32))[0].to_vector<float>();
  EXPECT_EQ(gradient[0], 0);
  EXPECT_TRUE(std::isnan(gradient[1]));
  EXPECT_TRUE(std::isnan(gradient[2]));
  EXPECT_TRUE(std::isnan(gradient[3]));
}

TEST(Logsumexp, LogSoftmaxTakesTheChannelsAndOverflowsNowhere) {
  const Tensor x = Tensor::from<float>({1000, 0, 1000, 1000}, {2, 2}, "CB");
  EXPECT_EQ(log_softmax(x).spec().text(), "f32[2,2] \"BC\"");
  const auto y = log_softmax(x, "C").to_vector<float>();
  const float half = static_cast<float>(std::log(0.5));
  EXPECT_NEAR(y[0], half, 1e-6);
  EXPECT_NEAR(y[1], half, 1e-6);
  EXPECT_EQ(y[2], -1000);
  EXPECT_EQ(y[3], 0);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float one : log_softmax(Tensor::from<float>({0, infinity}, {2})).to_vector<float>())
    EXPECT_TRUE(std::isnan(one));
  EXPECT_EQ(log_softmax(Tensor::from<float>({0, -infinity}, {2})).to_vector<float>()[1], -infinity);
  EXPECT_THROW(log_softmax(Tensor::scalar(1.0f)), Error);
  EXPECT_THROW(log_softmax(x, 2), Error);
}

TEST(Logsumexp, SaysWhatDoesNotFit) {
  EXPECT_NE(error_text([] { logsumexp(Tensor::zeros({3}, DType::i32)); }).find("logsumexp: x is i32"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace
