// Layers over sequences, in a program and as a job writes them, and prelu.
#include <gtest/gtest.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers.h"
#include "retrace/ops/ops.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

using Floats = std::vector<float>;

Tensor labelled_sequence() {
  Floats values;
  for (int i = 0; i < 36; ++i) values.push_back(static_cast<float>(i * 7 % 11) / 4 - 1);
  return Tensor::from<float>(values, {2, 6, 3}, "BTC");
}

Floats output_of(const Layer& layer, const Tensor& x) {
  return layer.forward(x, {}, {}, Phase::train).y.tensor().to_vector<float>();
}

// The layer of a job file.
Layer layer_of_text(const char* type, const OptionValues& options) {
  LayerText text{.type = type, .options = options};
  std::vector<Error> errors;
  const Layer made = kind_of(all_layers(), type, "layer", {}).layer(completed_options(text, type, errors));
  EXPECT_TRUE(errors.empty()) << type;
  return made;
}

TEST(SequenceLayers, Conv1dIsTheOpWithItsParameters) {
  const Tensor x = labelled_sequence();
  const Conv1dOptions options{.stride = 2, .padding = causal, .dilation = 2};
  const Layer layer = conv1d(3, 5, options);
  const auto [p, state] = layer.initial({6, 3}, random_key(1));
  const Tree& own = p["conv1d_1"];
  EXPECT_EQ(own["weights"].tensor().shape(), (Shape{3, 3, 5}));
  const Tensor y = layer.forward(x, p, state, Phase::train).y.tensor();
  EXPECT_EQ(y.shape(), (Shape{2, 3, 5}));
  EXPECT_EQ(y.labels(), "BTC");
  const Floats expected = retrace::conv1d(x, own["weights"].tensor(), own["bias"].tensor(), options).to_vector<float>();
  EXPECT_EQ(y.to_vector<float>(), expected);
  const Layer read = layer_of_text("conv1d", {{"size", int64_t{3}},
                                              {"filters", int64_t{5}},
                                              {"stride", int64_t{2}},
                                              {"padding", std::string("causal")},
                                              {"dilation", int64_t{2}}});
  EXPECT_EQ(read.forward(x, p, state, Phase::train).y.tensor().to_vector<float>(), expected);
}

TEST(SequenceLayers, TransposedConv1dIsTheOpWithItsParameters) {
  const Tensor x = labelled_sequence();
  const TransposedConv1dOptions options{.stride = 2, .cropping = {1, 0}};
  const Layer layer = transposed_conv1d(3, 5, options);
  const auto [p, state] = layer.initial({6, 3}, random_key(1));
  const Tree& own = p["transposed_conv1d_1"];
  EXPECT_EQ(own["weights"].tensor().shape(), (Shape{3, 5, 3}));
  const Tensor y = layer.forward(x, p, state, Phase::train).y.tensor();
  EXPECT_EQ(y.spec().text(), "f32[2,12,5] \"BTC\"");
  const Floats expected =
      retrace::transposed_conv1d(x, own["weights"].tensor(), own["bias"].tensor(), options).to_vector<float>();
  EXPECT_EQ(y.to_vector<float>(), expected);
  const Layer read = layer_of_text("transposed_conv1d", layer.made_from()->options);
  EXPECT_EQ(read.forward(x, p, state, Phase::train).y.tensor().to_vector<float>(), expected);
  EXPECT_EQ(transposed_conv1d(3, 5, {.cropping = causal}).made_from()->options.text("cropping"), "causal");
}

TEST(SequenceLayers, PoolsAreTheirOps) {
  const Tensor x = labelled_sequence();
  const OptionValues two{{"size", int64_t{2}}};
  EXPECT_EQ(output_of(max_pool1d(2), x), retrace::max_pool1d(x, 2).to_vector<float>());
  EXPECT_EQ(output_of(layer_of_text("max_pool1d", two), x), retrace::max_pool1d(x, 2).to_vector<float>());
  EXPECT_EQ(output_of(layer_of_text("average_pool1d", two), x), retrace::average_pool1d(x, 2).to_vector<float>());
  const AveragePool1dOptions ends{.stride = 1, .padding = {1, 0}, .count_padding = true};
  EXPECT_EQ(output_of(average_pool1d(3, ends), x), retrace::average_pool1d(x, 3, ends).to_vector<float>());
  EXPECT_EQ(average_pool1d(3, ends).made_from()->options.integers("padding"), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(output_of(global_max_pool1d(), x), retrace::global_max_pool1d(x).to_vector<float>());
  EXPECT_EQ(output_of(global_average_pool1d(), x), retrace::global_average_pool1d(x).to_vector<float>());
  const OptionValues four{{"size", int64_t{4}}};
  EXPECT_EQ(output_of(adaptive_average_pool1d(4), x), retrace::adaptive_average_pool1d(x, 4).to_vector<float>());
  EXPECT_EQ(output_of(layer_of_text("adaptive_average_pool1d", four), x), output_of(adaptive_average_pool1d(4), x));
  EXPECT_EQ(output_of(adaptive_max_pool1d(4), x), retrace::adaptive_max_pool1d(x, 4).to_vector<float>());
  EXPECT_EQ(output_of(layer_of_text("adaptive_max_pool1d", four), x), output_of(adaptive_max_pool1d(4), x));
  const Tensor image = reshape(x, {2, 2, 3, 3}, "BSSC");
  EXPECT_EQ(output_of(global_max_pool2d(), image), retrace::max_pool2d(image, {2, 3}).to_vector<float>());
}

TEST(SequenceLayers, PreluLearnsASlopeForEachChannel) {
  const Tensor x = labelled_sequence();
  const Layer layer = prelu(0.5);
  const auto [p, state] = layer.initial({6, 3}, random_key(1));
  EXPECT_EQ(p["prelu_1"]["slope"].tensor().to_vector<float>(), (Floats{0.5f, 0.5f, 0.5f}));
  EXPECT_EQ(layer.forward(x, p, state, Phase::train).y.tensor().to_vector<float>(),
            retrace::leaky_relu(x, 0.5).to_vector<float>());
}

TEST(SequenceLayers, SayWhatTheyTake) {
  const std::string text = error_of([] { conv1d(3, 2).initial({4, 4, 1}, random_key(1)); });
  EXPECT_NE(text.find("RT0275"), std::string::npos) << text;
  EXPECT_NE(text.find("a sequence [batch,length,channels]"), std::string::npos);
  EXPECT_NE(
      error_of([] {
        LayerText given{
            .type = "conv1d",
            .options = {{"size", int64_t{3}}, {"filters", int64_t{2}}, {"padding", std::vector<int64_t>{1, 2, 3}}}};
        std::vector<Error> errors;
        kind_of(all_layers(), "conv1d", "layer", {}).layer(completed_options(given, "conv1d", errors));
      }).find("RT0274"),
      std::string::npos);
}

}  // namespace
}  // namespace retrace::nn
