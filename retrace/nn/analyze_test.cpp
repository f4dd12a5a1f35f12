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
  const Sequential layers{image_input({6, 6, 2}), conv2d(3, 4), batch_norm(), relu(),
                          linear(3).named("head"), softmax()};
  EXPECT_EQ(analyze(layers, {6, 6, 2}).text(),
            "");
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
    analyze({.layers = {{.type = "relu"}, {.type = "linear", .options = {{"features", int64_t{3}}}}, {.type = "softmax"},
                        {.type = "conv2d", .name = "late", .options = {{"size", int64_t{3}}, {"filters", int64_t{2}}},
                         .place = "job.toml:7:3"}},
             .input = {4, 4, 1},
             .outputs = {{.name = "class"}}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "");
  }
}

}  // namespace
}  // namespace retrace::nn
