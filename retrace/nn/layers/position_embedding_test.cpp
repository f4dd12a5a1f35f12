#include "retrace/nn/layers/position_embedding.h"

#include <gtest/gtest.h>

#include "retrace/nn/layers.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace::nn {
namespace {

TEST(PositionEmbeddingLayer, AddsTheRowOfEachPosition) {
  const Layer layer = position_embedding(4);
  const auto [parameters, state] = layer.initial({4, 2}, random_key(1));
  const auto rows = parameters["position_embedding_1"]["weights"].tensor().to_vector<float>();
  EXPECT_EQ(rows.size(), 8u);
  for (const int64_t length : {4, 3}) {
    const Tensor x = Tensor::full(1, {2, length, 2}, DType::f32, "BTC");
    const Tensor y = layer.forward(x, parameters, state, Phase::inference).y.tensor();
    EXPECT_EQ(y.labels(), "BTC");
    const auto all = y.to_vector<float>();
    for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], 1 + rows[i % static_cast<size_t>(2 * length)]);
  }
  const std::string text =
      error_text([&] { layer.forward(Tensor::zeros({1, 5, 2}), parameters, state, Phase::inference, {"gpt.cpp", 7}); });
  EXPECT_NE(text.find("error[RT0214]: position_embedding: x does not fit 4 positions"), std::string::npos) << text;
}

}  // namespace
}  // namespace retrace::nn
