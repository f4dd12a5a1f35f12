#include "retrace/ops/likelihood_loss/likelihood_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(poisson_loss, poisson_loss(Tensor::from<float>({0, 1}, {2}), Tensor::from<float>({1, 3}, {2})));
OP_EXAMPLE(gaussian_loss, gaussian_loss(Tensor::from<float>({0, 1}, {2}), Tensor::from<float>({1, 1}, {2}),
                                        Tensor::from<float>({1, 4}, {2})));

OP_CASES(likelihood_loss) {
  const CaseInput x{.shape = {5, 7}, .labels = "BC"}, variance{.shape = {5, 7}, .low = 0.5, .high = 3, .labels = "BC"};
  const Bound near{.ulp = 8, .relative = 2e-6};
  return {{.op = "mean",
           .name = "of_counts",
           .inputs = {x, {.shape = {5, 7}, .low = 0, .high = 6, .labels = "BC"}},
           .build = [](const std::vector<Tensor>& in) { return std::vector{poisson_loss(in[0], in[1])}; },
           .bound = near},
          {.op = "mean",
           .name = "of_values_with_a_variance",
           .inputs = {x, x, variance},
           .build = [](const std::vector<Tensor>& in) { return std::vector{gaussian_loss(in[0], in[1], in[2])}; },
           .bound = near}};
}

TEST(LikelihoodLoss, IsTheFormula) {
  const Tensor x = Tensor::from<float>({0.5f, -1}, {2}), t = Tensor::from<float>({2, 0}, {2});
  EXPECT_NEAR(poisson_loss(x, t).item<float>(), (std::exp(0.5) - 1 + std::exp(-1.0)) / 2, 1e-6);
  const Tensor v = Tensor::from<float>({4, 0}, {2});
  const double expected = 0.5 * (std::log(4.0) + 2.25 / 4 + std::log(0.25) + 1 / 0.25) / 2;
  EXPECT_NEAR(gaussian_loss(x, t, v, 0.25).item<float>(), expected, 1e-6);
}

TEST(LikelihoodLoss, DoesNotBroadcast) {
  const Tensor column = Tensor::zeros({3, 1}), row = Tensor::zeros({3});
  EXPECT_NE(error_text([&] { poisson_loss(column, row); }).find("error[RT0548]: poisson_loss: t does not fit"),
            std::string::npos);
  EXPECT_NE(error_text([&] { gaussian_loss(row, row, column); }).find("gaussian_loss: variance"), std::string::npos);
}

}  // namespace
}  // namespace retrace
