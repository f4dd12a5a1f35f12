#include "retrace/nn/layers/self_attention.h"

#include <gtest/gtest.h>

#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers.h"
#include "retrace/ops/attention/attention.h"
#include "retrace/ops/linear/linear.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/rotary_embedding/rotary_embedding.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/transpose/transpose.h"

namespace retrace::nn {
namespace {

Tensor positions(const Shape& shape) {
  std::vector<float> all;
  for (int64_t i = 0; i < shape.count(); ++i) all.push_back(static_cast<float>(i * 37 % 19) / 19.0f - 0.4f);
  return Tensor::from(all, shape, "BTC");
}

TEST(SelfAttentionLayer, IsAttentionBetweenLinearLayers) {
  const Layer layer = self_attention({.heads = 1});
  const auto [parameters, state] = layer.initial({3, 4}, random_key(1));
  const Tree& own = parameters["self_attention_1"];
  const Tensor x = positions({2, 3, 4});
  const auto part = [&](const char* name) { return retrace::linear(x, own[name], {.flatten = false}); };
  const Tensor y = retrace::attention(part("query"), part("key"), part("value"));
  const Tensor made = layer.forward(x, parameters, state, Phase::inference).y.tensor();
  EXPECT_EQ(made.labels(), "BTC");
  EXPECT_EQ(made.to_vector<float>(), retrace::linear(y, own["output"], {.flatten = false}).to_vector<float>());
}

TEST(SelfAttentionLayer, HeadsShareKeysAndValues) {
  const Layer layer = self_attention({.heads = 4, .key_value_heads = 2, .causal = true}, {.bias = false});
  const auto [parameters, state] = layer.initial({5, 8}, random_key(1));
  const Tree& own = parameters["self_attention_1"];
  EXPECT_EQ(own["key"]["weights"].tensor().shape(), (Shape{4, 8}));
  EXPECT_FALSE(own["query"].contains("bias"));
  const Tensor x = positions({2, 5, 8});
  const auto made = [&](const Tensor& of) { return layer.forward(of, parameters, state, Phase::inference).y.tensor(); };
  EXPECT_EQ(made(x).shape(), x.shape());
  // What comes later changes nothing.
  EXPECT_EQ(made(slice(x, 1, {0, 3})).to_vector<float>(), slice(made(x), 1, {0, 3}).to_vector<float>());
  EXPECT_EQ(layer.made_from()->options.integer("key_value_heads"), 2);
}

TEST(SelfAttentionLayer, TurnsQueriesAndKeysOfEachHead) {
  const Layer layer = self_attention({.heads = 2, .rotary = true, .rotary_base = 50});
  const auto [parameters, state] = layer.initial({3, 8}, random_key(1));
  const Tree& own = parameters["self_attention_1"];
  const Tensor x = positions({2, 3, 8});
  const auto heads = [&](const char* name) {
    const Tensor all = retrace::linear(x, own[name], {.flatten = false});
    return transpose(reshape(all, {2, 3, 2, 4}, ""), {0, 2, 1, 3});
  };
  const RotaryEmbeddingOptions turn{.base = 50};
  const Tensor y =
      retrace::attention(rotary_embedding(heads("query"), turn), rotary_embedding(heads("key"), turn), heads("value"));
  const Tensor wanted =
      retrace::linear(reshape(transpose(y, {0, 2, 1, 3}), {2, 3, 8}), own["output"], {.flatten = false});
  const auto made = layer.forward(x, parameters, state, Phase::inference).y.tensor().to_vector<float>();
  EXPECT_EQ(made, wanted.to_vector<float>());
  EXPECT_NE(made,
            self_attention({.heads = 2}).forward(x, parameters, state, Phase::inference).y.tensor().to_vector<float>());
  EXPECT_EQ(layer.made_from()->options.number("rotary_base"), 50);
}

TEST(SelfAttentionLayer, SaysWhatDoesNotFit) {
  const auto text = [](const SelfAttentionOptions& options, const Shape& sample) {
    return error_text([&] { self_attention(options, {}, {"gpt.cpp", 7}).initial(sample, random_key(1)); });
  };
  const std::string heads = text({.heads = 3}, {5, 8});
  EXPECT_NE(heads.find("error[RT0213]: self_attention: x does not fit 3 heads"), std::string::npos) << heads;
  EXPECT_NE(text({.heads = 2}, {8}).find("[batch,length,features]"), std::string::npos);
  EXPECT_NE(text({.heads = 2, .rotary = true}, {5, 6}).find("3 features are no pairs"), std::string::npos);
  const std::string shared = text({.heads = 4, .key_value_heads = 3}, {5, 8});
  EXPECT_NE(shared.find("error[RT0212]: self_attention: 4 heads share 3 of keys and values"), std::string::npos)
      << shared;
}

}  // namespace
}  // namespace retrace::nn
