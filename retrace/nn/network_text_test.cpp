#include "retrace/nn/network_text.h"

#include <gtest/gtest.h>

#include "retrace/nn/layer_graph.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

Network network_of(const Layer& layers, const Shape& sample, std::vector<NetworkOutput> outputs = {{.name = "y"}}) {
  return make_network(random_key(1), layers, sample, std::move(outputs));
}

// A line for each layer: its type or name, and where it takes its input from.
std::string lines_of(const std::vector<LayerText>& layers, const std::string& indent = "") {
  std::string lines;
  for (const auto& layer : layers) {
    lines += indent + layer.type + (layer.name.empty() ? "" : "(" + layer.name + ")");
    for (const auto& from : layer.from) lines += " " + from;
    lines += "\n" + lines_of(layer.layers, indent + "  ");
  }
  return lines;
}

TEST(NetworkText, LayersOneAfterAnother) {
  const Sequential layers{image_input({8, 8, 2}, {.normalization = Normalization::zscore}),
                          repeat(2, {conv2d({1, 3}, 4, {.padding = same}, {.initializer = he_normal}), batch_norm()}),
                          relu().named("bent"),
                          max_pool2d(2),
                          linear(3, {.bias = false}).named("scores"),
                          softmax()};
  const NetworkText text = text_of(network_of(layers, {8, 8, 2}));
  EXPECT_EQ(lines_of(text.layers),
            "image_input\nconv2d\nbatch_norm\nconv2d\nbatch_norm\nrelu(bent)\nmax_pool2d\nlinear(scores)\nsoftmax\n");
  EXPECT_EQ(text.outputs[0].from, "");
  EXPECT_EQ(text.layers[0].options.text("normalization"), "zscore");
  EXPECT_EQ(text.layers[1].options.integers("size"), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(text.layers[1].options.text("padding"), "same");
  EXPECT_EQ(text.layers[1].options.text("initializer"), "he-normal");
  EXPECT_FALSE(text.layers[7].options.truth("bias"));
}

// What has parameters is not named: its parameters would be called otherwise.
TEST(NetworkText, SumsBlocksAndHeads) {
  const Layer unit = residual(Sequential{conv2d(3, 4, {.padding = same}), batch_norm()});
  const Sequential layers{
      conv2d(3, 4, {.padding = same}), unit, relu(),
      residual(conv2d(1, 8, {.stride = 2}), conv2d(1, 8, {.stride = 2}).named("skip")).named("block"),
      parallel({{"b", linear(2)}, {"a", Sequential{linear(3), softmax()}}})};
  const std::vector<NetworkOutput> outputs{
      {.name = "a"}, {.name = "b", .kind = OutputKind::values, .loss = "mean-squared-error", .metric = "rmse"}};
  const NetworkText text = text_of(network_of(layers, {6, 6, 1}, outputs));
  EXPECT_EQ(lines_of(text.layers),
            "conv2d\n"
            "identity(value_1)\n"
            "conv2d\n"
            "batch_norm\n"
            "add value_1\n"
            "relu\n"
            "(block)\n"
            "  conv2d\n"
            "  identity(value_1)\n"
            "  conv2d(skip) input\n"
            "  add value_1 skip\n"
            "linear\n"
            "identity(value_2)\n"
            "linear block\n"
            "softmax(value_3)\n");
  EXPECT_EQ(text.outputs[0].from, "value_3");
  EXPECT_EQ(text.outputs[1].from, "value_2");
}

// Of job files, and built-in networks; with the values of the same parameters.
TEST(NetworkText, ComputesTheSameBits) {
  const std::vector<NetworkOptions> all{
      {.name = "digits", .width = 4},
      {.name = "peaks", .width = 4},
      {.name = "autoencoder", .width = 4},
      {.name = "cifar10", .width = 4},
      {.layers = {{.type = "linear", .options = {{"features", int64_t{5}}}},
                  {.repeat = 2, .layers = {{.type = "relu"}, {.type = "add", .from = {"input"}}}}},
       .input = {6},
       .outputs = {{.name = "class"}}}};
  for (const auto& options : all) {
    SCOPED_TRACE(options.name);
    const Network network = make_network(random_key(2), options);
    const NetworkText text = text_of(network);
    const Layer again = plain_layers({.layers = text.layers, .input = network.sample, .outputs = text.outputs});
    const TensorSpec one = spec_of_sample(network.sample);
    const Tensor x = Tensor::full(0.25, one.shape, one.type, one.labels.text());
    const Tree y = network.forward(x, network.parameters, network.state, Phase::inference).y;
    const Tree z = again.forward(x, network.parameters, network.state, Phase::inference).y;
    for (const auto& output : network.outputs)
      EXPECT_EQ(y[output.name].tensor().to_vector<float>(), z[output.name].tensor().to_vector<float>());
    EXPECT_EQ(leaves(again.initial(network.sample, random_key(2)).state).size(), leaves(network.state).size());
    EXPECT_TRUE(has_named_loss(network));
  }
}

TEST(NetworkText, ScoresWithoutSoftmaxStayScores) {
  const Network network = network_of(Sequential{linear(3)}, {2});
  const NetworkText text = text_of(network);
  EXPECT_EQ(lines_of(text.layers), "linear\n");
}

TEST(NetworkText, WhatNoTextCanSay) {
  const Layer own("twice", [](Walk&, const Tree& x) { return Tree(2.0f * x.tensor()); });
  const auto refusal = [](const Layer& layers) { return error_of([&] { text_of(network_of(layers, {2})); }); };
  EXPECT_EQ(refusal(Sequential{linear(2), own.named("mine")}),
            "error[RT0730]: the network cannot be written as text: layer \"mine\" is one of the program's own\n"
            "  help:     make it of the layers of retrace::nn");
  EXPECT_TRUE(says(refusal(Sequential{linear(2), layer_of([](const Tensor& x) { return 2.0f * x; })}),
                   "a layer is one of the program's own"));
  EXPECT_TRUE(says(refusal(Sequential{linear(2), own.with_options({})}), "no layer \"twice\""));
  // Something else under the name of a layer of ours.
  const Layer other("", [](Walk&, const Tree& x) { return Tree(2.0f * x.tensor()); });
  EXPECT_TRUE(says(refusal(Sequential{linear(2), other.shown_as("relu").with_options({})}), "compute something else"));
  Network network = network_of(Sequential{linear(3)}, {2});
  EXPECT_TRUE(has_named_loss(network));
  network.loss = [](const Tree& y, const Tree&) { return mean(y["y"].tensor()); };
  EXPECT_FALSE(has_named_loss(network));
}

}  // namespace
}  // namespace retrace::nn
