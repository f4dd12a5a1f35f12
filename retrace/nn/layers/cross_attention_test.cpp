#include "retrace/nn/layers/cross_attention.h"

#include <gtest/gtest.h>

#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers.h"
#include "retrace/ops/attention/attention.h"
#include "retrace/ops/linear/linear.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/transpose/transpose.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

Tensor steps_of(const Shape& shape) {
  std::vector<float> all;
  for (int64_t i = 0; i < shape.count(); ++i) all.push_back(static_cast<float>(i * 37 % 19) / 19.0f - 0.4f);
  return Tensor::from(all, shape, "BTC");
}

// The first two positions of a series of six features ask all five of them.
Layer asking(const CrossAttentionOptions& options) {
  const Layer first = layer_of([](const Tensor& x) { return slice(x, 1, {0, 2}); });
  return Sequential{parallel({{"0", first}, {"1", linear(4, {.flatten = false}).named("memory")}}),
                    cross_attention(options)};
}

TEST(CrossAttentionLayer, IsAttentionBetweenLinearLayers) {
  const Layer layer = asking({.heads = 2});
  const auto [parameters, state] = layer.initial({5, 6}, random_key(1));
  const Tree& own = parameters["cross_attention_1"];
  EXPECT_EQ(own["key"]["weights"].tensor().shape(), (Shape{6, 4}));
  const Tensor x = steps_of({3, 5, 6}), asks = slice(x, 1, {0, 2});
  const Tensor memory = retrace::linear(x, parameters["memory"], {.flatten = false});
  const auto heads = [&](const char* name, const Tensor& of) {
    const Tensor all = retrace::linear(of, own[name], {.flatten = false});
    return retrace::transpose(retrace::reshape(all, {3, of.shape()[1], 2, 3}, ""), {0, 2, 1, 3});
  };
  const Tensor y = attention(heads("query", asks), heads("key", memory), heads("value", memory));
  const Tensor joined = retrace::reshape(retrace::transpose(y, {0, 2, 1, 3}), {3, 2, 6});
  const Tensor made = layer.forward(x, parameters, state, Phase::inference).y.tensor();
  EXPECT_EQ(made.labels(), "BTC");
  EXPECT_EQ(made.to_vector<float>(), retrace::linear(joined, own["output"], {.flatten = false}).to_vector<float>());
}

TEST(CrossAttentionLayer, SaysWhatDoesNotFit) {
  const auto text = [](const Layer& layer, const Shape& sample) {
    return error_of([&] { layer.initial(sample, random_key(1)); });
  };
  const std::string heads = text(asking({.heads = 4}), {5, 6});
  EXPECT_NE(heads.find("error[RT0213]: cross_attention: x does not fit 4 heads"), std::string::npos) << heads;
  EXPECT_NE(heads.find("memory f32[1,5,4]"), std::string::npos) << heads;
  EXPECT_NE(text(asking({.heads = 2, .key_value_heads = 3}), {5, 6}).find("RT0212"), std::string::npos);
  EXPECT_NE(text(cross_attention({.heads = 1}), {5, 6}).find("RT0543"), std::string::npos);
}

}  // namespace
}  // namespace retrace::nn
