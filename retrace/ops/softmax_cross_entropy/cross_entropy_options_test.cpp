#include <gtest/gtest.h>

#include <cmath>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/softmax_cross_entropy/softmax_cross_entropy.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

const std::vector<double> kClasses{2, 0, 1, 2, 1, 3, 0};

OP_CASES(weighted_cross_entropy) {
  using Options = CrossEntropyOptions;
  const auto with = [](const char* name, bool weights, Options options, Shape rows = {7}) {
    Shape shape = rows;
    shape.push_back(4);
    OpCase one{
        .op = "weighted_cross_entropy",
        .name = name,
        .inputs = {{.shape = shape, .low = -3, .high = 3}, {.shape = rows, .type = DType::i32, .values = kClasses}},
        .bound = {.ulp = 4, .relative = 4e-6},
        .gradient = {.ulp = 4, .relative = 8e-6, .tiny = true}};
    if (weights) one.inputs.push_back({.shape = {4}, .low = 0.5, .high = 2});
    one.build = [weights, options](const std::vector<Tensor>& in) {
      Options all = options;
      if (weights) all.weights = in[2];
      return std::vector<Tensor>{softmax_cross_entropy(in[0], in[1], all)};
    };
    return one;
  };
  std::vector<OpCase> cases{
      with("smooth", false, {.label_smoothing = 0.1}),
      with("ignored", false, {.ignore_index = 2}),
      with("ignored_outside", false, {.ignore_index = 3, .label_smoothing = 0.2}, {2, 3}),
      with("weights", true, {}),
      with("everything", true, {.ignore_index = 1, .label_smoothing = 0.25}, {3, 5}),
      with("sum", true, {.label_smoothing = 0.25, .mean = CrossEntropyMean::none}),
  };
  auto soft = with("probabilities", true, {.label_smoothing = 0.25});
  soft.inputs[1] = {.shape = {7, 4}, .low = 0, .high = 1};
  cases.push_back(soft);
  auto masked = with("masked", false, {});
  masked.inputs.push_back({.shape = {7}, .type = DType::boolean, .values = {1, 1, 0, 1, 0}});
  masked.build = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{softmax_cross_entropy(in[0], in[1], {.mask = in[2]})};
  };
  cases.push_back(masked);
  return cases;
}

// Numbers of PyTorch 2.15: torch.nn.functional.cross_entropy.
TEST(CrossEntropyOptions, AreThoseOfPyTorch) {
  const Tensor x = Tensor::from<float>({1, -2, 0.5f, 3, 0.25f, -1, 2, 2, 2, -7, 4, 0}, {4, 3}, "BC");
  const Tensor t = Tensor::from<int32_t>({2, 0, -100, 1}, {4}, "B");
  const Tensor w = Tensor::from<float>({0.5f, 2, 1.5f}, {3});
  const auto loss = [&](const CrossEntropyOptions& options) {
    return softmax_cross_entropy(x, t, options).item<float>();
  };
  EXPECT_NEAR(loss({.ignore_index = -100}), 0.367266536, 1e-5);
  EXPECT_NEAR(loss({.ignore_index = -100, .weights = w}), 0.395686567, 1e-5);
  EXPECT_NEAR(loss({.ignore_index = -100, .label_smoothing = 0.1, .weights = w}), 0.624094605, 1e-5);
  EXPECT_NEAR(loss({.ignore_index = -100, .mean = CrossEntropyMean::observations}), 0.367266536 * 3 / 4, 1e-5);
  EXPECT_NEAR(loss({.ignore_index = -100, .mean = CrossEntropyMean::none}), 0.367266536 * 3, 1e-5);
  const Tensor mask = Tensor::from<int32_t>({1, 1, 0, 1}, {4}, "B") > 0;
  EXPECT_NEAR(softmax_cross_entropy(x, Tensor::from<int32_t>({2, 0, 1, 1}, {4}, "B"), {.mask = mask}).item<float>(),
              0.367266536, 1e-5);
  const Tensor ones = Tensor::from<int32_t>({1, 1, 1, 1}, {4}, "B");
  EXPECT_TRUE(std::isnan(softmax_cross_entropy(x, ones, {.ignore_index = 1}).item<float>()));
}

TEST(CrossEntropyOptions, WhatDoesNotCountMayBeInfinite) {
  const float infinity = __builtin_inff();
  const Tensor x = Tensor::from<float>({1, -infinity, 0.5f, infinity, 0.25f, -1}, {2, 3});
  const Tensor t = Tensor::from<int32_t>({2, -1}, {2});
  const auto [value, slopes] =
      value_and_grad([&](const Tensor& scores) { return softmax_cross_entropy(scores, t, {.ignore_index = -1}); })(x);
  EXPECT_NEAR(value.item<float>(), 0.97407698418, 1e-6);
  EXPECT_TRUE(std::isfinite(slopes.to_vector<float>()[0]));
  EXPECT_EQ(slopes.to_vector<float>()[3], 0);
}

TEST(CrossEntropyOptions, WrongOnesAreErrors) {
  const Place place{"model.cpp", 7};
  const Tensor x = Tensor::zeros({4, 3}), t = Tensor::zeros({4}, DType::i32);
  const auto text = [&](const CrossEntropyOptions& options) {
    return error_text([&] { softmax_cross_entropy(x, t, options, place); });
  };
  EXPECT_EQ(text({.weights = Tensor::zeros({4})}),
            "error[RT0236]: softmax_cross_entropy: the weights do not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[4,3], weights f32[4]\n"
            "  expected: one of each class: f32[3]");
  EXPECT_NE(text({.label_smoothing = 1.5}).find("label_smoothing is 1.5"), std::string::npos);
  EXPECT_NE(text({.mask = Tensor::zeros({4})}).find("the mask does not fit"), std::string::npos);
  EXPECT_NE(error_text([&] { softmax_cross_entropy(x, x, {.ignore_index = 0}, place); }).find("for class numbers"),
            std::string::npos);
  EXPECT_NE(error_text([&] {
              softmax_cross_entropy(Tensor::zeros({2, 3, 4}, DType::f32, "BCU"), Tensor::zeros({2, 3, 4}),
                                    {.label_smoothing = 0.1}, place);
            }).find("the classes are not the last axis"),
            std::string::npos);
  EXPECT_NE(error_text([&] {
              softmax_cross_entropy(x, Tensor::zeros({4, 4}), {.label_smoothing = 0.1}, place);
            }).find("prediction and target differ in shape"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace
