#include "retrace/nn/layers/group_norm.h"

#include <gtest/gtest.h>

#include "retrace/nn/layers.h"

namespace retrace::nn {
namespace {

TEST(GroupNorm, IsTheOpWithItsParameters) {
  std::vector<float> numbers;
  for (int i = 0; i < 48; ++i) numbers.push_back(static_cast<float>(i * i % 13) / 4);
  const Tensor x = Tensor::from<float>(numbers, {2, 2, 3, 4}, "BSSC");
  const Tensor ones = Tensor::full(1, {4}), zeros = Tensor::zeros({4});
  for (const auto& [layer, groups] : {std::pair<Layer, int64_t>{group_norm(2), 2}, {instance_norm(), 4}}) {
    const Sequential layers{layer};
    const auto [parameters, state] = layers.initial({2, 3, 4}, random_key(1));
    EXPECT_TRUE(state.empty());
    EXPECT_EQ(leaves(parameters).size(), 2u);
    const Tensor y = layers.forward(x, parameters, state, Phase::inference).y.tensor();
    EXPECT_EQ(y.labels(), "BSSC");
    EXPECT_EQ(y.to_vector<float>(), retrace::group_norm(x, ones, zeros, groups).to_vector<float>());
  }
}

}  // namespace
}  // namespace retrace::nn
