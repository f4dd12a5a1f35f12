#include "retrace/optim/regularize.h"

#include <gtest/gtest.h>

namespace retrace {
namespace {

Tree layer_of(std::vector<float> values) {
  const auto size = static_cast<int64_t>(values.size());
  return {{"layer", {{"weights", Tensor::from(values, Shape{size})}}}};
}

TEST(AverageWeights, MovesByAShare) {
  const Tree moved = average_weights(layer_of({1, -2}), layer_of({5, 2}), 0.25f);
  EXPECT_EQ(moved["layer"]["weights"].tensor().to_vector<float>(), (std::vector<float>{2, -1}));
  const Tree all = average_weights(layer_of({1, -2}), layer_of({5, 2}), 1.0f);
  EXPECT_EQ(all["layer"]["weights"].tensor().to_vector<float>(), (std::vector<float>{5, 2}));
}

TEST(AverageWeights, MistakesAreNamed) {
  EXPECT_THROW(average_weights(layer_of({1}), layer_of({1, 2}), 0.5f), Error);
  EXPECT_THROW(average_weights(layer_of({1}), layer_of({1}), -0.5f), Error);
}

}  // namespace
}  // namespace retrace
