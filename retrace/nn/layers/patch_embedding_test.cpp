// Layers of vision transformers, and scaling.
#include "retrace/nn/layers/patch_embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/nn/layers/scaling.h"
#include "retrace/nn/layers/sinusoidal_position_encoding.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

using Floats = std::vector<float>;

Tensor counted(const Shape& shape, std::string_view labels) {
  Floats values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) - 6;
  return Tensor::from(values, shape, labels);
}

TEST(PatchEmbeddingLayer, IsALinearLayerOfEachPatch) {
  const Layer layer = patch_embedding({2, 3}, 4);
  const auto [parameters, state] = layer.initial({4, 6, 2}, random_key(1));
  const Tensor x = counted({2, 4, 6, 2}, "BSSC");
  const Tensor y = layer.forward(x, parameters, state, Phase::train).y.tensor();
  EXPECT_EQ(y.labels(), "BTC");
  EXPECT_EQ(y.shape(), (Shape{2, 4, 4}));
  const Floats in = x.to_vector<float>(), out = y.to_vector<float>();
  const Floats weights = parameters["patch_embedding_1"]["weights"].tensor().to_vector<float>();
  for (int n = 0; n < 2; ++n)
    for (int t = 0; t < 4; ++t)
      for (int f = 0; f < 4; ++f) {
        double sum = 0;
        for (int ky = 0; ky < 2; ++ky)
          for (int kx = 0; kx < 3; ++kx)
            for (int c = 0; c < 2; ++c) {
              const int row = t / 2 * 2 + ky, column = t % 2 * 3 + kx;
              sum += static_cast<double>(in[static_cast<size_t>(((n * 4 + row) * 6 + column) * 2 + c)]) *
                     static_cast<double>(weights[static_cast<size_t>(((ky * 3 + kx) * 2 + c) * 4 + f)]);
            }
        EXPECT_NEAR(out[static_cast<size_t>((n * 4 + t) * 4 + f)], sum, 1e-5);
      }
}

TEST(PatchEmbeddingLayer, RefusesImagesThatPatchesDoNotFill) {
  const std::string text = error_of([] { patch_embedding(4, 8).initial({30, 32, 3}, random_key(1)); });
  EXPECT_NE(text.find("RT0488"), std::string::npos) << text;
  EXPECT_NE(text.find("patches of 4 x 4 do not fill the image"), std::string::npos) << text;
}

TEST(SinusoidalPositionEncodingLayer, AddsWavesToEachPosition) {
  const int length = 5, features = 7;
  const Tensor x = counted({2, length, features}, "BTC");
  const Tensor y = sinusoidal_position_encoding(100).forward(x, {}, {}, Phase::train).y.tensor();
  EXPECT_EQ(y.labels(), "BTC");
  const Floats in = x.to_vector<float>(), out = y.to_vector<float>();
  for (size_t i = 0; i < out.size(); ++i) {
    const int t = static_cast<int>(i) / features % length, f = static_cast<int>(i) % features;
    const double angle = t * std::pow(100, -static_cast<double>(f - f % 2) / features);
    EXPECT_EQ(out[i], in[i] + static_cast<float>(f % 2 ? std::cos(angle) : std::sin(angle))) << i;
  }
  EXPECT_NE(error_of([] { sinusoidal_position_encoding(0); }).find("RT0489"), std::string::npos);
  EXPECT_NE(error_of([&] {
              sinusoidal_position_encoding().forward(Tensor::zeros({2, 3}), {}, {}, Phase::train);
            }).find("RT0275"),
            std::string::npos);
}

TEST(ScalingLayer, MultipliesAndAdds) {
  const Tensor x = Tensor::from<float>({-1, 0, 2}, {1, 3}, "BC");
  const auto of = [&](const Layer& layer) {
    return layer.forward(x, {}, {}, Phase::train).y.tensor().to_vector<float>();
  };
  EXPECT_EQ(of(scaling(3, 0.5)), (Floats{-2.5f, 0.5f, 6.5f}));
  EXPECT_EQ(of(scaling(3)), (Floats{-3, 0, 6}));
  EXPECT_EQ(of(scaling(1, -1)), (Floats{-2, -1, 1}));
}

}  // namespace
}  // namespace retrace::nn
