#include "retrace/ops/cross_channel_norm/cross_channel_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(cross_channel_norm,
           cross_channel_norm(Tensor::from<float>({1, 2, 3, 4}, {1, 4}), 3, {.alpha = 3, .beta = 1, .k = 1}));

OP_CASES(cross_channel_norm) {
  const auto with = [](const char* name, Shape x, int64_t size, CrossChannelNormOptions options,
                       const char* labels = "") {
    return OpCase{.op = "average_pool2d",
                  .name = std::string("of_cross_channel_norm_") + name,
                  .inputs = {{.shape = x, .labels = labels}},
                  .build = [=](const auto& in) { return std::vector{cross_channel_norm(in[0], size, options)}; },
                  .bound = {.ulp = 6, .relative = 1e-6},
                  .gradient = {.ulp = 8, .relative = 4e-6, .tiny = true}};
  };
  return {with("images", {2, 3, 4, 6}, 5, {.alpha = 0.5}, "BSSC"),
          with("even", {2, 3, 7}, 4, {.alpha = 2, .beta = 1.5, .k = 0.5}, "BTC"),
          with("features", {5, 17}, 3, {.alpha = 1, .beta = 0.5}),
          with("one_channel", {4, 1}, 5, {.alpha = 1}),
          with("wide", {3, 4}, 9, {.alpha = 1}),
          with("alone", {3, 4}, 1, {.alpha = 1}),
          with("empty_batch", {0, 2, 4}, 3, {})};
}

TEST(CrossChannelNorm, IsItsFormula) {
  std::vector<float> x;
  for (int i = 0; i < 2 * 7; ++i) x.push_back(static_cast<float>(i * 5 % 11) - 4);
  for (const int size : {1, 2, 3, 4, 5, 20}) {
    const Tensor y = cross_channel_norm(Tensor::from(x, {2, 1, 7}, "BTC"), size, {.alpha = 0.3, .beta = 0.6, .k = 1.5});
    EXPECT_EQ(y.spec().text(), "f32[2,1,7] \"BTC\"");
    const auto found = y.to_vector<float>();
    for (int i = 0; i < 14; ++i) {
      double sum = 0;
      for (int c = i % 7 - size / 2; c < i % 7 - size / 2 + size; ++c)
        if (c >= 0 && c < 7) sum += std::pow(double{x[static_cast<size_t>(i / 7 * 7 + c)]}, 2);
      const double wanted = double{x[static_cast<size_t>(i)]} / std::pow(1.5 + 0.3 * sum / size, 0.6);
      EXPECT_NEAR(found[static_cast<size_t>(i)], wanted, 1e-5) << size << " at " << i;
    }
  }
}

TEST(CrossChannelNorm, SaysWhatDoesNotFit) {
  const auto text = [](const Tensor& x, int64_t size, const CrossChannelNormOptions& options = {}) {
    return error_text([&] { cross_channel_norm(x, size, options, {"model.cpp", 7}); });
  };
  const Tensor x = Tensor::zeros({2, 4});
  EXPECT_EQ(text(Tensor::zeros({4}), 5),
            "error[RT0436]: cross_channel_norm: x has no channels\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[4]\n"
            "  expected: f32 or f64 [batch,..,channels], unlabelled or with C as its last axis");
  EXPECT_NE(text(Tensor::zeros({2, 0}), 5).find("x has no channels"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 3}, DType::f32, "BT"), 5).find("x has no channels"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 3}, DType::i32), 5).find("x has no channels"), std::string::npos);
  EXPECT_NE(text(x, 0).find("a window of 0 channels"), std::string::npos);
  EXPECT_NE(text(x, 3, {.alpha = -1}).find("alpha is -1"), std::string::npos);
  EXPECT_NE(text(x, 3, {.beta = NAN}).find("beta is nan"), std::string::npos);
  EXPECT_NE(text(x, 3, {.k = 0}).find("k is 0"), std::string::npos);
}

}  // namespace
}  // namespace retrace
