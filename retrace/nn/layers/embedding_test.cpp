#include "retrace/nn/layers/embedding.h"

#include <gtest/gtest.h>

#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers.h"

namespace retrace::nn {
namespace {

TEST(EmbeddingLayer, LooksRowsOfItsWeightsUp) {
  const Layer layer = embedding(10, 4);
  const auto [parameters, state] = layer.initial({3}, random_key(1));
  const Tensor& weights = parameters["embedding_1"]["weights"].tensor();
  EXPECT_EQ(weights.shape(), (Shape{10, 4}));
  for (const float w : weights.to_vector<float>()) EXPECT_LE(std::abs(w), 0.8661f);  // sqrt(6 / 8)
  const Tensor x = Tensor::from<float>({9, 0, 3, 3, 2, 1}, {2, 3}, "BC");
  const Tensor y = layer.forward(x, parameters, state, Phase::inference).y.tensor();
  EXPECT_EQ(y.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(y.to_vector<float>(), retrace::embedding(x, weights).to_vector<float>());
  EXPECT_EQ(layer.made_from()->options.integer("vocabulary"), 10);
  EXPECT_EQ(embedding(3, 2, he_normal).made_from()->options.text("initializer"), "he-normal");
}

TEST(EmbeddingLayer, IsFollowedByLinearOfEachPosition) {
  const Sequential layers{embedding(10, 4), linear(6, {.flatten = false}), tanh(), linear(2)};
  const auto [parameters, state] = layers.initial({3}, random_key(1));
  EXPECT_EQ(parameters["linear_1"]["weights"].tensor().shape(), (Shape{6, 4}));
  EXPECT_EQ(parameters["linear_2"]["weights"].tensor().shape(), (Shape{2, 18}));
  const Tensor x = Tensor::from<int32_t>({9, 0, 3, 3, 2, 1}, {2, 3}, "BT");
  EXPECT_EQ(layers.forward(x, parameters, state, Phase::inference).y.tensor().shape(), (Shape{2, 2}));
}

}  // namespace
}  // namespace retrace::nn
