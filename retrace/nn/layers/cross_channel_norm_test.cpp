#include "retrace/nn/layers/cross_channel_norm.h"

#include <gtest/gtest.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layer_made.h"

namespace retrace::nn {
namespace {

TEST(CrossChannelNormLayer, IsTheOpAsAProgramAndAJobSayIt) {
  std::vector<float> values;
  for (int i = 0; i < 2 * 3 * 2 * 4; ++i) values.push_back(static_cast<float>(i * 7 % 11) - 3);
  const Tensor x = Tensor::from(values, {2, 3, 2, 4}, "BSSC");
  const CrossChannelNormOptions options{.alpha = 0.5, .beta = 1, .k = 1};
  const auto wanted = retrace::cross_channel_norm(x, 3, options).to_vector<float>();
  const Layer layer = cross_channel_norm(3, options);
  EXPECT_EQ(layer.forward(x, {}, {}, Phase::train).y.tensor().to_vector<float>(), wanted);
  const auto read = [&](const OptionValues& given) {
    std::vector<Error> errors;
    const auto completed = completed_options({.type = "cross_channel_norm", .options = given}, "layer 1", errors);
    EXPECT_TRUE(errors.empty());
    const Layer made = kind_of(all_layers(), "cross_channel_norm", "layer", {}).layer(completed);
    return made.forward(x, {}, {}, Phase::train).y.tensor().to_vector<float>();
  };
  EXPECT_EQ(read(layer.made_from()->options), wanted);
  EXPECT_EQ(read({}), retrace::cross_channel_norm(x, 5).to_vector<float>());
}

}  // namespace
}  // namespace retrace::nn
