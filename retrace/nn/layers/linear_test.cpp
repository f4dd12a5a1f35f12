#include "retrace/nn/layers/linear.h"

#include <gtest/gtest.h>

#include "retrace/nn/layer_made.h"

namespace retrace::nn {
namespace {

TEST(LinearLayer, TakesASampleOrThatOfEachPosition) {
  const Tensor x = uniform({2, 3, 4, 5}, random_key(1), {.labels = "BSSC"});
  const auto shape_of = [&](const Layer& layer) {
    const auto [parameters, state] = layer.initial({3, 4, 5}, random_key(2));
    return std::pair(parameters["linear_1"]["weights"].tensor().shape(),
                     layer.forward(x, parameters, state, Phase::train).y.tensor().spec().text());
  };
  EXPECT_EQ(shape_of(linear(7)), std::pair(Shape{7, 60}, std::string("f32[2,7] \"BC\"")));
  EXPECT_EQ(shape_of(linear(7, {.flatten = false})), std::pair(Shape{7, 5}, std::string("f32[2,3,4,7] \"BSSC\"")));
  EXPECT_EQ(shape_of(linear(7, {.flatten = false}, {.bias = false})).first, (Shape{7, 5}));
  EXPECT_FALSE(linear(7, {.flatten = false}).made_from()->options.truth("flatten"));
}

}  // namespace
}  // namespace retrace::nn
