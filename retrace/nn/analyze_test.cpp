#include "retrace/nn/analyze.h"

#include <gtest/gtest.h>

#include "retrace/nn/models.h"
#include "retrace/nn/network_kind.h"

namespace retrace::nn {
namespace {

int64_t count(const Tree& tree) {
  int64_t sum = 0;
  for (const auto& tensor : leaf_tensors(tree)) sum += tensor.size();
  return sum;
}

TEST(Analyze, TellsEachLayerOfANetwork) {
  const Sequential layers{image_input({6, 6, 2}),  conv2d(3, 4), batch_norm(), relu(),
                          linear(3).named("head"), softmax()};
  EXPECT_EQ(analyze(layers, {6, 6, 2}).text(),
            R"(layer          type         output     learnables     state  output bytes  parameters and state
input                       [6,6,2]
image_input_1  image_input  [6,6,2]             0         0           288
conv2d_1       conv2d       [4,4,4]            76         0           256  weights [3,3,2,4], bias [4]
batch_norm_1   batch_norm   [4,4,4]             8         8           256  scale [4], offset [4], mean [4], variance [4]
relu_1         relu         [4,4,4]             0         0           256
head           linear       [3]               195         0            12  weights [3,64], bias [3]
softmax_1      softmax      [3]                 0         0            12
all                                           279         8         1,080
)");
}

TEST(Analyze, CountsWhatTheNetworkHas) {
  for (const auto& kind : all_networks()) {
    const Network network = make_network(random_key(1), {.name = kind.name});
    const Analysis analysis = analyze(network);
    EXPECT_EQ(analysis.learnables, count(network.parameters)) << kind.name;
    EXPECT_EQ(analysis.state, count(network.state)) << kind.name;
    EXPECT_EQ(analysis.text(), analyze({.name = kind.name}).text()) << kind.name;
  }
  EXPECT_EQ(analyze({.name = "cifar10"}).learnables, 677'610);
}

TEST(Analyze, AResidualBranchIsToldOnce) {
  const Analysis analysis = analyze({.name = "digits"});
  std::string names;
  for (const auto& layer : analysis.layers) names += layer.name + " ";
  EXPECT_EQ(names,
            "conv2d_1 batch_norm_1 relu_1 conv2d_2 batch_norm_2 relu_2 conv2d_3 batch_norm_3 conv2d_skip "
            "batch_norm_skip add_1 relu_3 class softmax_1 angle ");
}

TEST(Analyze, NamesTheLayerThatDoesNotFit) {
  try {
    analyze({.layers = {{.type = "relu"},
                        {.type = "linear", .options = {{"features", int64_t{3}}}},
                        {.type = "softmax"},
                        {.type = "conv2d",
                         .name = "late",
                         .options = {{"size", int64_t{3}}, {"filters", int64_t{2}}},
                         .place = "job.toml:7:3"}},
             .input = {4, 4, 1},
             .outputs = {{.name = "class"}}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "error[RT0194]: layer 4 (conv2d \"late\"): conv2d: x has 2 axes\n"
                 "  where:    job.toml:7:3\n"
                 "  got:      f32[1,3] \"BC\"\n"
                 "  expected: an image [batch,height,width,channels]\n"
                 "  help:     put this layer before those that make features, such as linear, and take data of images");
  }
}

}  // namespace
}  // namespace retrace::nn
