#include <gtest/gtest.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers/adaptive_average_pool2d.h"
#include "retrace/nn/layers/adaptive_max_pool2d.h"

namespace retrace::nn {
namespace {

using Floats = std::vector<float>;

Floats pooled(const Layer& layer, const Tensor& x) {
  return layer.forward(x, {}, {}, Phase::train).y.tensor().to_vector<float>();
}

Layer read_layer(const std::string& type, const OptionValues& options) {
  LayerText text{.type = type, .options = options};
  std::vector<Error> errors;
  const Layer made = kind_of(all_layers(), type, "layer", {}).layer(completed_options(text, type, errors));
  EXPECT_TRUE(errors.empty());
  return made;
}

TEST(AdaptivePool2dLayers, AreTheOpsAsAProgramAndAJobSayIt) {
  Floats values;
  for (int i = 0; i < 2 * 5 * 4; ++i) values.push_back(static_cast<float>(i * 7 % 11));
  const Tensor x = Tensor::from<float>(values, {2, 5, 4, 1}, "BSSC");
  const Layer mean = adaptive_average_pool2d({3, 2}), largest = adaptive_max_pool2d({3, 2});
  const Floats means = retrace::adaptive_average_pool2d(x, {3, 2}).to_vector<float>();
  const Floats maxima = retrace::adaptive_max_pool2d(x, {3, 2}).to_vector<float>();
  EXPECT_EQ(pooled(mean, x), means);
  EXPECT_EQ(pooled(largest, x), maxima);
  EXPECT_EQ(pooled(read_layer("adaptive_average_pool2d", mean.made_from()->options), x), means);
  EXPECT_EQ(pooled(read_layer("adaptive_max_pool2d", largest.made_from()->options), x), maxima);
}

}  // namespace
}  // namespace retrace::nn
