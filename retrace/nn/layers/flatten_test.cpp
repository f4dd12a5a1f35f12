#include "retrace/nn/layers/flatten.h"

#include <gtest/gtest.h>

#include "retrace/nn/layers.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

TEST(FlattenLayer, MakesARowOfASample) {
  const Tensor x = reshape(Tensor::arange(24), {2, 2, 3, 2}, "BSSC");
  const Tensor y = flatten().forward(x, {}, {}, Phase::train).y.tensor();
  EXPECT_EQ(y.spec().text(), "f32[2,12] \"BC\"");
  EXPECT_EQ(y.to_vector<float>(), x.to_vector<float>());
  const Sequential with{flatten(), linear(3)}, without{linear(3)};
  const auto [parameters, state] = with.initial({2, 3, 2}, random_key(1));
  EXPECT_EQ(with.forward(x, parameters, state, Phase::train).y.tensor().to_vector<float>(),
            without.forward(x, parameters, state, Phase::train).y.tensor().to_vector<float>());
}

TEST(FlattenLayer, TakesNoPadding) {
  const Sequential layers{embedding(5, 2, {.padding_token = 0}), flatten()};
  EXPECT_TRUE(
      says(error_of([&] { layers.initial({4}, random_key(1)); }), "flatten would mix padding with the samples"));
}

}  // namespace
}  // namespace retrace::nn
