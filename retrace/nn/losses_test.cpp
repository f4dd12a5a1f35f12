#include <gtest/gtest.h>

#include <cmath>

#include "retrace/nn/loss_kind.h"
#include "retrace/ops/softmax/softmax.h"
#include "retrace/ops/softmax_cross_entropy/softmax_cross_entropy.h"

namespace retrace::nn {
namespace {

float loss(const NetworkOutput& output, const Tensor& y, const Tensor& target) {
  return loss_of({output})(Tree{{"y", y}}, Tree{{"y", target}}).item<float>();
}

TEST(Losses, CrossEntropyTakesOptions) {
  const Tensor x = Tensor::from<float>({1, -2, 0.5f, 3, 0.25f, -1, 2, 2, 2, -2, 1, 0}, {4, 3}, "BC"), y = softmax(x);
  const Tensor t = Tensor::from<int32_t>({2, 0, 1, 1}, {4}, "B");
  const auto wanted = [&](const CrossEntropyOptions& options) {
    return softmax_cross_entropy(x, t, options).item<float>();
  };
  EXPECT_NEAR(loss({.name = "y", .label_smoothing = 0.1}, y, t), wanted({.label_smoothing = 0.1}), 1e-6);
  EXPECT_NEAR(loss({.name = "y", .ignore_index = 1}, y, t), wanted({.ignore_index = 1}), 1e-6);
  EXPECT_NEAR(loss({.name = "y", .label_smoothing = 0.2, .ignore_index = 0}, y, t),
              wanted({.ignore_index = 0, .label_smoothing = 0.2}), 1e-6);
  const Tensor weights = Tensor::from<float>({0.5f, 2, 0}, {3});
  EXPECT_NEAR(loss({.name = "y", .class_weights = {0.5, 2, 0}}, y, t), wanted({.weights = weights}), 1e-6);
  EXPECT_NEAR(loss({.name = "y", .label_smoothing = 0.2, .ignore_index = 0, .class_weights = {0.5, 2, 0}}, y, t),
              wanted({.ignore_index = 0, .label_smoothing = 0.2, .weights = weights}), 1e-6);
  EXPECT_EQ(loss({.name = "y", .ignore_index = 1}, y, Tensor::from<int32_t>({1, 1, 1, 1}, {4}, "B")), 0);
}

TEST(Losses, OptionsMustFit) {
  const auto text = [](const NetworkOutput& output) {
    try {
      loss_of({output}, {"model.cpp", 7});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(text({.name = "y", .label_smoothing = 2}),
            "error[RT0268]: the label_smoothing of the output \"y\" is out of range\n"
            "  where:    model.cpp:7\n"
            "  got:      2\n"
            "  expected: a number from 0 to 1");
  EXPECT_EQ(text({.name = "y", .class_weights = {1, -2}}),
            "error[RT0291]: the class_weights of the output \"y\" are not usable\n"
            "  where:    model.cpp:7\n"
            "  got:      1, -2\n"
            "  expected: a number from 0 on for each class, not all of them 0");
  EXPECT_THROW(loss({.name = "y", .class_weights = {1, 2}}, Tensor::ones({2, 3}, DType::f32, "BC"),
                    Tensor::from<int32_t>({0, 1}, {2}, "B")),
               Error);
  EXPECT_EQ(text({.name = "y", .kind = OutputKind::values, .loss = "huber", .ignore_index = 1}),
            "error[RT0269]: the loss \"huber\" takes no label_smoothing, ignore_index or class_weights\n"
            "  where:    model.cpp:7\n"
            "  got:      the output \"y\" with ignore_index\n"
            "  expected: loss = \"cross-entropy\"");
}

TEST(Losses, OfValues) {
  const Tensor y = Tensor::from<float>({0, 0, 3, 4}, {2, 2}, "BC"), t = Tensor::from<float>({1, 0, 3, 4}, {2, 2}, "BC");
  EXPECT_NEAR(loss({.name = "y", .kind = OutputKind::values, .loss = "cosine"}, y, t), 0.5f, 1e-6);
  const Tensor targets = Tensor::from<float>({1, 0, 1, 1}, {2, 2}, "BC");
  const float wanted = (2 * std::log(2.0f) + std::log1p(std::exp(-3.0f)) + std::log1p(std::exp(-4.0f))) / 4;
  EXPECT_NEAR(loss({.name = "y", .kind = OutputKind::values, .loss = "binary-cross-entropy"}, y, targets), wanted,
              1e-6);
  const float counts = (1 + 1 + std::exp(3.0f) - 3 + std::exp(4.0f) - 4) / 4;
  EXPECT_NEAR(loss({.name = "y", .kind = OutputKind::values, .loss = "poisson"}, y, targets), counts, 1e-5);
}

}  // namespace
}  // namespace retrace::nn
