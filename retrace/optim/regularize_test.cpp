#include "retrace/optim/regularize.h"

#include <gtest/gtest.h>

#include <cmath>

namespace retrace {
namespace {

using Floats = std::vector<float>;

Tree two(Floats bias, Floats weights) {
  const auto size = [](const Floats& values) { return Shape{static_cast<int64_t>(values.size())}; };
  return {{"layer", {{"bias", Tensor::from(bias, size(bias))}, {"weights", Tensor::from(weights, size(weights))}}}};
}
Floats bias_of(const Tree& tree) { return tree["layer"]["bias"].tensor().to_vector<float>(); }
Floats weights_of(const Tree& tree) { return tree["layer"]["weights"].tensor().to_vector<float>(); }

TEST(L2Regularization, adds_the_parameters) {
  const Tree result = l2_regularization(two({8}, {8, -4}), two({1}, {1, 2}), 0.25f);
  EXPECT_EQ(bias_of(result), (Floats{1}));
  EXPECT_EQ(weights_of(result), (Floats{3, 1}));
  EXPECT_THROW(l2_regularization(two({1}, {1, 2}), two({1}, {1}), 0.25f), Error);
}

TEST(L2Regularization, spares_biases_and_what_a_norm_scales_and_shifts_by) {
  const auto tree = [](float value) {
    const Tensor one = Tensor::from({value}, Shape{1});
    return Tree{{"bias", one},
                {"bias_layer", {{"weights", one}}},
                {"batch_norm_1", {{"offset", one}, {"scale", one}}},
                {"stage", {{"batch_norm_2", {{"offset", one}, {"scale", one}}}, {"scale_layer", {{"own", one}}}}}};
  };
  const Tree result = l2_regularization(tree(8), tree(1), 0.25f);
  for (const auto& [path, gradient] : leaves(result))
    EXPECT_EQ(gradient.item<float>(), path.ends_with("weights") || path.ends_with("own") ? 3 : 1) << path;
}

TEST(ClipGradients, by_the_norm_of_each_tensor) {
  const Tree result = clip_gradients(two({1}, {3, 4}), 2.5f);
  EXPECT_EQ(bias_of(result), (Floats{1}));
  EXPECT_EQ(weights_of(result), (Floats{1.5f, 2}));
}

TEST(ClipGradients, by_the_norm_of_all) {
  const Tree result = clip_gradients(two({12}, {3, 4}), 6.5f, Clip::global_l2_norm);  // norm 13
  EXPECT_EQ(bias_of(result), (Floats{6}));
  EXPECT_EQ(weights_of(result), (Floats{1.5f, 2}));
  EXPECT_EQ(weights_of(clip_gradients(two({12}, {3, 4}), 13.0f, Clip::global_l2_norm)), (Floats{3, 4}));
}

TEST(ClipGradients, by_the_value_of_each_element) {
  const Tree result = clip_gradients(two({-5}, {3, std::nanf("")}), 2.0f, Clip::absolute_value);
  EXPECT_EQ(bias_of(result), (Floats{-2}));
  EXPECT_EQ(weights_of(result)[0], 2);
  EXPECT_TRUE(std::isnan(weights_of(result)[1]));
}

}  // namespace
}  // namespace retrace
