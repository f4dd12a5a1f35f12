#include "retrace/train/padding_cut.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/train/job_data.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

const std::string kTokens = "{type = \"embedding\", vocabulary = 9, features = 8, padding_token = 0}, ";
const std::string kSeries = "{type = \"sequence_input\"}, ";
const std::string kRecurrent = "{type = \"lstm\", features = 8, bidirectional = true, last = true}, ";
const std::string kPooled = "{type = \"gru\", features = 8}, {type = \"global_max_pool1d\"}, ";
const std::string kAttending =
    "{type = \"linear\", features = 8, flatten = false}, {type = \"self_attention\", heads = 2}, "
    "{type = \"global_average_pool1d\"}, ";
const std::string kEnd = "{type = \"linear\", features = 2}, {type = \"softmax\"}";

nn::NetworkOptions options_of(const std::string& layers, const Shape& sample) {
  const std::string data = sample.rank() == 2 ? "source = \"series\"\nfeatures = 2\n" : "source = \"texts\"\n";
  const std::string text = "[network]\nlayers = [" + layers + "]\n[data]\npath = \"data\"\nlength = 40\n" + data;
  nn::NetworkOptions options = parse_job(text, "x.toml").network;
  options.input = sample;
  options.outputs = {{.name = "class"}};
  return options;
}

// Lengths 3, 7 and 10 of 40.
Tensor tokens(int64_t longest = 10) {
  std::vector<float> values(3 * 40);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t at = 0; at < (i == 2 ? longest : 3 + 4 * i); ++at)
      values[static_cast<size_t>(i * 40 + at)] = static_cast<float>(1 + (i * 5 + at * 3) % 8);
  return Tensor::from(values, {3, 40}, "BT");
}

Tensor series() {
  std::vector<float> values(3 * 40 * 2, std::nanf(""));
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t at = 0; at < 2 * (3 + 3 * i); ++at)
      values[static_cast<size_t>(i * 80 + at)] = static_cast<float>(i + at % 7) / 4;
  return Tensor::from(values, {3, 40, 2}, "BTC");
}

TEST(PaddingCut, LeavesAHalfOrAQuarter) {
  EXPECT_EQ(without_padding(tokens(10), 0.0).spec().text(), "f32[3,10] \"BT\"");
  EXPECT_EQ(without_padding(tokens(11), 0.0).spec().text(), "f32[3,20] \"BT\"");
  EXPECT_EQ(without_padding(tokens(21), 0.0).shape(), (Shape{3, 40}));
  EXPECT_EQ(without_padding(Tensor::zeros({2, 41}), 0.0).shape(), (Shape{2, 11}));
  EXPECT_EQ(without_padding(Tensor::zeros({2, 1}), 0.0).shape(), (Shape{2, 1}));
  EXPECT_EQ(without_padding(tokens(10), std::nullopt).shape(), (Shape{3, 40}));
  EXPECT_EQ(without_padding(series(), std::nan("")).shape(), (Shape{3, 10, 2}));
  EXPECT_EQ(without_padding(cast(tokens(10), DType::i32), 0.0).shape(), (Shape{3, 10}));
}

TEST(PaddingCut, ChangesNoBit) {
  for (const auto& middle : {kRecurrent, kPooled, kAttending})
    for (const bool of_tokens : {true, false}) {
      const Tensor x = of_tokens ? tokens() : series();
      const auto options =
          options_of((of_tokens ? kTokens : kSeries) + middle + kEnd, of_tokens ? Shape{40} : Shape{40, 2});
      const nn::Network network = nn::make_network(random_key(3), options);
      const auto padding = masked_padding(options, network.outputs);
      ASSERT_TRUE(padding) << middle;
      const Tensor cut = without_padding(x, padding);
      EXPECT_EQ(cut.shape()[1], 10);
      EXPECT_EQ(fingerprint(network.predict(cut)), fingerprint(network.predict(x))) << middle;
    }
}

TEST(PaddingCut, IsNoneOfNetworksThatSeePadding) {
  const auto found = [](const std::string& layers, nn::OutputKind kind = nn::OutputKind::class_scores) {
    return masked_padding(options_of(layers, {40}), {{.name = "class", .kind = kind}}).has_value();
  };
  EXPECT_TRUE(found(kTokens + kRecurrent + kEnd));
  EXPECT_FALSE(found(kTokens + kRecurrent + kEnd, nn::OutputKind::series_scores));
  EXPECT_FALSE(found("{type = \"embedding\", vocabulary = 9, features = 8}, " + kRecurrent + kEnd));
  EXPECT_FALSE(masked_padding({.layers = {{.type = "linear"}}}, {{.name = "class"}}));
  auto other = options_of(kTokens + kRecurrent + kEnd, {40});
  other.layers.back().from = {"input"};
  EXPECT_FALSE(masked_padding(other, {{.name = "class"}}));
  EXPECT_FALSE(masked_padding({}, {{.name = "class"}}));
}

}  // namespace
}  // namespace retrace
