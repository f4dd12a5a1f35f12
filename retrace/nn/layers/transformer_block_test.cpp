#include "retrace/nn/layers/transformer_block.h"

#include <gtest/gtest.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

Tensor block_input() {
  std::vector<float> all;
  for (int i = 0; i < 2 * 5 * 8; ++i) all.push_back(static_cast<float>(i * 37 % 19) / 19.0f - 0.4f);
  return Tensor::from(all, {2, 5, 8}, "BTC");
}

std::vector<std::string> paths_of(const Tree& tree) {
  std::vector<std::string> paths;
  for (const auto& [path, tensor] : leaves(tree)) paths.push_back(path);
  return paths;
}

// The same layers, put together by hand, with the parameters of the block.
Layer block_by_hand(const SelfAttentionOptions& attention, const Layer& norm, int64_t hidden, const Layer& activation) {
  const auto rows = [](int64_t outputs) { return linear(outputs, {.flatten = false}); };
  return Sequential{
      residual(Sequential{norm.named("attention_norm"), self_attention(attention).named("attention")}),
      residual(Sequential{norm.named("mlp_norm"),
                          Sequential{rows(hidden).named("hidden"), activation, rows(8).named("output")}.named("mlp")})}
      .named("transformer_block_1");
}

TEST(TransformerBlockLayer, IsItsLayersOneAfterAnother) {
  const Tensor x = block_input();
  const auto expect_same = [&](const Layer& block, const Layer& wanted) {
    const auto [parameters, state] = block.initial({5, 8}, random_key(3));
    EXPECT_TRUE(state.empty());
    EXPECT_EQ(fingerprint(parameters), fingerprint(wanted.initial({5, 8}, random_key(3)).parameters));
    const Tensor y = block.forward(x, parameters, state, Phase::train).y.tensor();
    EXPECT_EQ(y.spec().text(), x.spec().text());
    EXPECT_EQ(y.to_vector<float>(), wanted.forward(x, parameters, state, Phase::train).y.tensor().to_vector<float>());
  };
  expect_same(transformer_block({.heads = 2}), block_by_hand({.heads = 2}, layer_norm(), 32, gelu()));
  expect_same(transformer_block({.heads = 4,
                                 .key_value_heads = 2,
                                 .causal = true,
                                 .rotary = true,
                                 .rotary_base = 50,
                                 .hidden = 12,
                                 .activation = "silu",
                                 .norm = "rms"}),
              block_by_hand({.heads = 4, .key_value_heads = 2, .causal = true, .rotary = true, .rotary_base = 50},
                            rms_norm(), 12, silu()));
}

TEST(TransformerBlockLayer, NamesItsParameters) {
  const auto [parameters, state] =
      transformer_block({.heads = 2, .norm = "rms"}, {.bias = false}).initial({5, 8}, random_key(1));
  EXPECT_EQ(paths_of(parameters["transformer_block_1"]),
            (std::vector<std::string>{"attention/key/weights", "attention/output/weights", "attention/query/weights",
                                      "attention/value/weights", "attention_norm/scale", "mlp/hidden/weights",
                                      "mlp/output/weights", "mlp_norm/scale"}));
}

TEST(TransformerBlockLayer, DropsInTrainingOnly) {
  const Tensor x = block_input();
  const Layer plain = transformer_block({.heads = 2}), dropping = transformer_block({.heads = 2, .dropout = 0.5});
  const auto [parameters, state] = plain.initial({5, 8}, random_key(1));
  const auto made = [&](const Layer& layer, Phase phase) {
    auto f = accelerate([&](const Tree& p, const Tensor& of) { return layer.forward(of, p, {}, phase).y.tensor(); });
    return f(parameters, x).to_vector<float>();
  };
  EXPECT_EQ(made(dropping, Phase::inference), made(plain, Phase::inference));
  EXPECT_NE(made(dropping, Phase::train), made(plain, Phase::train));
}

TEST(TransformerBlockLayer, IsWhatAJobSays) {
  const Layer block = transformer_block({.heads = 2, .hidden = 6, .activation = "relu", .dropout = 0.25});
  LayerText text{.type = "transformer_block", .options = block.made_from()->options};
  std::vector<Error> errors;
  const OptionValues options = completed_options(text, "layer 1", errors);
  EXPECT_TRUE(errors.empty());
  const Layer read = kind_of(all_layers(), "transformer_block", "layer", {}).layer(options);
  EXPECT_EQ(read.made_from()->options, block.made_from()->options);
  EXPECT_EQ(fingerprint(read.initial({5, 8}, random_key(1)).parameters),
            fingerprint(block.initial({5, 8}, random_key(1)).parameters));
}

TEST(TransformerBlockLayer, SaysWhatDoesNotFit) {
  const auto text = [](const TransformerBlockOptions& options, const Shape& sample) {
    return error_of([&] { transformer_block(options, {}, {"gpt.cpp", 7}).initial(sample, random_key(1)); });
  };
  EXPECT_NE(text({.heads = 2, .norm = "layr"}, {5, 8}).find("did you mean \"layer\"?"), std::string::npos);
  EXPECT_NE(text({.heads = 2, .activation = "gelutanh"}, {5, 8}).find("gelu_tanh"), std::string::npos);
  EXPECT_NE(text({.heads = 3}, {5, 8}).find("RT0213"), std::string::npos);
  EXPECT_NE(text({.heads = 2}, {8}).find("RT0213"), std::string::npos);
}

}  // namespace
}  // namespace retrace::nn
