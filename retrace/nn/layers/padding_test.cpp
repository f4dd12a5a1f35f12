// Padding behind a sample changes no bit of what layers make of it.
#include <gtest/gtest.h>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/nn/layers.h"
#include "retrace/tensor/fingerprint.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

constexpr int64_t kVocabulary = 9, kFeatures = 8;

// Two samples of 3 and 5 tokens, padded by zeros.
Tensor padded_tokens(int64_t length) {
  std::vector<float> values(static_cast<size_t>(2 * length));
  const std::vector<float> first{4, 2, 8}, second{1, 7, 3, 5, 6};
  std::copy(first.begin(), first.end(), values.begin());
  std::copy(second.begin(), second.end(), values.begin() + length);
  return Tensor::from(values, {2, length}, "BC");
}

Layer padded_network(const std::vector<Layer>& behind, int64_t padding = 0) {
  std::vector<Layer> layers{embedding(kVocabulary, kFeatures, {.padding_token = padding})};
  layers.insert(layers.end(), behind.begin(), behind.end());
  return Sequential(std::move(layers));
}

Initial padded_initial(const Layer& layers) { return layers.initial({5}, random_key(3)); }

std::vector<float> outputs_of(const Layer& layers, const Tensor& x) {
  const Initial initial = padded_initial(layers);
  return layers.forward(x, initial.parameters, initial.state, Phase::train).y.tensor().to_vector<float>();
}

// Of the sum of squares.
std::string gradients_of(const Layer& layers, const Tensor& x) {
  const Initial initial = padded_initial(layers);
  const auto step = value_and_grad([&](const Tree& parameters, const Tensor& of) {
    const Tensor y = layers.forward(of, parameters, initial.state, Phase::train).y.tensor();
    return sum(y * y);
  });
  return fingerprint(step(initial.parameters, x).gradients);
}

// What reduces a sequence, and what stands before it.
std::vector<std::pair<const char*, std::vector<Layer>>> padded_cases() {
  const auto head = [] { return linear(2); };
  return {{"lstm", {lstm(4, {.last = true}), head()}},
          {"two ways", {gru(4, {.last = true, .bidirectional = true}), head()}},
          {"rnn", {rnn(4, {.bidirectional = true}), global_average_pool1d(), head()}},
          {"lstm, lstm", {lstm(4, {.bidirectional = true}), lstm(3, {.last = true})}},
          {"attention",
           {position_embedding(64), self_attention({.heads = 2}), layer_norm(), global_average_pool1d(), head()}},
          {"causal", {residual(self_attention({.heads = 2, .causal = true})), relu(), global_max_pool1d(), head()}},
          {"each position", {linear(3, {.flatten = false}), tanh(), global_max_pool1d()}}};
}

TEST(Padding, ChangesNoBitOfOutputs) {
  for (const auto& [name, behind] : padded_cases()) {
    const Layer layers = padded_network(behind);
    const auto y = outputs_of(layers, padded_tokens(5));
    EXPECT_EQ(outputs_of(layers, padded_tokens(6)), y) << name;
    EXPECT_EQ(outputs_of(layers, padded_tokens(55)), y) << name;
    const bool differs = outputs_of(padded_network(behind, -1), padded_tokens(55)) != y;
    EXPECT_EQ(differs, std::string(name) != "each position") << name;  // the maxima of which stand elsewhere
  }
}

// Other samples of the mini-batch do not matter, nor does a sample's length.
TEST(Padding, LeavesASampleAsItIsAlone) {
  const Tensor alone = Tensor::from<float>({4, 2, 8}, {1, 3}, "BC");
  for (const auto& [name, behind] : padded_cases()) {
    const Layer layers = padded_network(behind);
    const auto y = outputs_of(layers, alone), both = outputs_of(layers, padded_tokens(17));
    EXPECT_EQ(std::vector<float>(both.begin(), both.begin() + std::ssize(y)), y) << name;
  }
}

// The last row of a sample, where nothing is padded, is what `last` takes.
TEST(Padding, IsNotMaskedWhereThereIsNone) {
  const Tensor x = Tensor::from<float>({4, 2, 8, 1, 7, 3}, {2, 3}, "BC");
  for (const Layer& layer :
       {lstm(4, {.last = true}), gru(4, {.last = true, .bidirectional = true}), rnn(4), self_attention({.heads = 2})})
    EXPECT_EQ(outputs_of(padded_network({layer}), x), outputs_of(padded_network({layer}, -1), x));
}

// A recurrence adds position by position.
TEST(Padding, ChangesNoBitOfGradientsOfRecurrences) {
  for (const auto& [name, behind] : padded_cases()) {
    if (std::string(name).find("lstm") == std::string::npos && std::string(name) != "two ways") continue;
    const Layer layers = padded_network(behind);
    EXPECT_EQ(gradients_of(layers, padded_tokens(55)), gradients_of(layers, padded_tokens(5))) << name;
    EXPECT_NE(gradients_of(padded_network(behind, -1), padded_tokens(55)), gradients_of(layers, padded_tokens(55)));
  }
}

// Sums over samples and positions are cut in blocks and strips, which begin with samples at such lengths.
TEST(Padding, ChangesNoBitOfGradientsAtPowersOfTwo) {
  for (const auto& [name, behind] : padded_cases()) {
    if (std::string(name) == "attention") continue;  // of 64 positions
    const Layer layers = padded_network(behind);
    EXPECT_EQ(gradients_of(layers, padded_tokens(512)), gradients_of(layers, padded_tokens(256))) << name;
  }
}

TEST(Padding, IsRefusedByLayersThatWouldMixIt) {
  const std::vector<std::pair<const char*, Layer>> mixing{
      {"conv1d", conv1d(3, 4)},          {"average_pool1d", average_pool1d(2)},
      {"max_pool1d", max_pool1d(2)},     {"linear", linear(2)},
      {"batch_norm", batch_norm()},      {"group_norm", group_norm(2)},
      {"instance_norm", instance_norm()}};
  for (const auto& [name, layer] : mixing) {
    EXPECT_TRUE(says(error_of([&] { padded_initial(padded_network({layer})); }),
                     std::string(name) + " would mix padding with the samples"));
    EXPECT_EQ(error_of([&] { padded_initial(padded_network({layer}, -1)); }), "no error") << name;
    EXPECT_EQ(error_of([&] { padded_initial(padded_network({global_max_pool1d(), linear(6), linear(2)})); }),
              "no error");
  }
  EXPECT_EQ(code_of([&] { padded_network({}).initial({5, 2}, random_key(1)); }), 249);
}

}  // namespace
}  // namespace retrace::nn
