#include "retrace/nn/layers/dropout.h"

#include <gtest/gtest.h>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/nn/analyze.h"
#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace::nn {
namespace {

using Floats = std::vector<float>;

Floats floats(const Tensor& x) { return x.to_vector<float>(); }

// What the layer makes of ones in the first call of a function that is trained.
Floats in_training(const Layer& layer, const Shape& shape, const std::string& labels, int shards = 1) {
  const auto step = value_and_grad(
      [&](const Tree& p, const Tensor& x) {
        const Tensor y = layer.forward(x, {}, {}, Phase::train).y.tensor();
        return WithAux{sum(y * p.tensor()), Tree{{"y", y}}};
      },
      {.shards = shards});
  return floats(step(Tree(Tensor::full(1, {})), Tensor::full(1, shape, DType::f32, labels)).aux["y"].tensor());
}

TEST(DropoutLayer, DropsInTrainingAlone) {
  const Tensor x = Tensor::full(3, {4, 50}, DType::f32, "BC");
  EXPECT_EQ(floats(dropout(0.5).forward(x, {}, {}, Phase::inference).y.tensor()), floats(x));
  const Floats y = in_training(dropout(0.75), {4, 50}, "BC");
  EXPECT_EQ(std::count(y.begin(), y.end(), 0.0f) + std::count(y.begin(), y.end(), 4.0f), 200);
  EXPECT_NEAR(static_cast<double>(std::count(y.begin(), y.end(), 0.0f)), 150, 20);
  EXPECT_EQ(in_training(dropout(0.75), {4, 50}, "BC", 4), y);
}

TEST(DropoutLayer, CountsSamplesAlongTheFirstAxisWithoutLabels) {
  EXPECT_EQ(in_training(dropout(), {4, 6, 5}, ""), in_training(dropout(), {4, 30}, "BC"));
  const DropoutOptions channels{.whole_channels = true};
  EXPECT_EQ(in_training(dropout(0.5, channels), {4, 6, 2, 5}, ""),
            in_training(dropout(0.5, channels), {4, 6, 2, 5}, "BSSC"));
}

TEST(DropoutLayer, HasNoParametersAndIsInTheTable) {
  const Sequential layers{linear(8), dropout(0.25), linear(3)};
  EXPECT_EQ(leaves(layers.initial({5}, random_key(1)).parameters).size(), 4u);
  const Analysis table = analyze(layers, {5});
  ASSERT_EQ(table.layers.size(), 3u);
  EXPECT_EQ(table.layers[1].name, "dropout_1");
  EXPECT_EQ(table.layers[1].output, Shape{8});
  EXPECT_EQ(dropout(0.25).made_from()->options.number("probability"), 0.25);
}

TEST(DropoutLayer, SaysThatItDrawsInTraining) {
  const Tensor x = Tensor::full(3, {4, 50}, DType::f32, "BC");
  const std::string text = error_text([&] { dropout().forward(x, {}, {}, Phase::train); });
  EXPECT_NE(text.find("error[RT0189]: dropout: what is dropped outside of a recorded function needs a key"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace retrace::nn
