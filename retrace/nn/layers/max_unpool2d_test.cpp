#include "retrace/nn/layers/max_unpool2d.h"

#include <gtest/gtest.h>

#include "retrace/nn/layer_graph.h"
#include "retrace/nn/layers.h"
#include "retrace/nn/network_text.h"
#include "retrace/nn/networks.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

Tensor unpool_input() {
  std::vector<float> all;
  for (int i = 0; i < 2 * 5 * 6 * 3; ++i) all.push_back(static_cast<float>(i * 37 % 101) / 10);
  return Tensor::from(all, {2, 5, 6, 3}, "BSSC");
}

Layer layers_of_texts(std::vector<LayerText> layers) {
  return plain_layers(
      {.layers = std::move(layers), .input = {5, 6, 3}, .outputs = {{.name = "y", .kind = OutputKind::image}}});
}

const OptionValues kTwo{{"size", std::vector<int64_t>{2}}}, kThree{{"size", std::vector<int64_t>{3}}};

TEST(MaxUnpool2dLayer, PutsNumbersWhereTheMaximaStood) {
  const Tensor x = unpool_input();
  const Sequential layers{max_pool2d(2, {.stride = {1, 2}, .padding = {1, 0}}),
                          parallel({{"0", relu()}, {"1", Sequential{}}}), max_unpool2d()};
  const auto [y, index] = max_pool2d_with_index(x, 2, {.stride = {1, 2}, .padding = {1, 0}});
  const Tensor made = layers.forward(x, {}, {}, Phase::train).y.tensor();
  EXPECT_EQ(made.spec().text(), x.spec().text());
  EXPECT_EQ(made.to_vector<float>(), retrace::max_unpool2d(y, index, {5, 6}).to_vector<float>());
}

// Two pools, one within the other, as encoder and decoder of a segmentation.
TEST(MaxUnpool2dLayer, FindsItsPoolByTheNameInAJob) {
  const Tensor x = unpool_input();
  const Layer layers = layers_of_texts({{.type = "max_pool2d", .name = "outer", .options = kTwo},
                                        {.type = "max_pool2d", .name = "inner", .options = kTwo},
                                        {.type = "softplus"},
                                        {.type = "max_unpool2d", .from = {"inner"}},
                                        {.type = "max_unpool2d", .from = {"outer"}}});
  const auto first = max_pool2d_with_index(x, 2), second = max_pool2d_with_index(first.y, 2);
  const Tensor middle = retrace::max_unpool2d(softplus(second.y, Place()), second.index, {2, 3});
  const Tensor wanted = retrace::max_unpool2d(middle, first.index, {5, 6});
  EXPECT_EQ(layers.forward(x, {}, {}, Phase::train).y["y"].tensor().to_vector<float>(), wanted.to_vector<float>());
}

// Each repetition of a block has its own pool, also where a layer outside has its name.
TEST(MaxUnpool2dLayer, KnowsPoolsOfBlocksApart) {
  const Tensor x = unpool_input();
  const std::vector<LayerText> inner{{.type = "max_pool2d", .name = "pool", .options = kTwo},
                                     {.type = "max_unpool2d", .from = {"pool"}}};
  const Layer layers = layers_of_texts({{.type = "max_pool2d", .name = "pool", .options = kTwo},
                                        {.repeat = 2, .layers = inner},
                                        {.type = "max_unpool2d", .from = {"pool"}}});
  const auto outer = max_pool2d_with_index(x, 2);
  Tensor y = outer.y;
  for (int i = 0; i < 2; ++i) {
    const auto own = max_pool2d_with_index(y, 2);
    y = retrace::max_unpool2d(own.y, own.index, {2, 3});
  }
  EXPECT_EQ(layers.forward(x, {}, {}, Phase::train).y["y"].tensor().to_vector<float>(),
            retrace::max_unpool2d(y, outer.index, {5, 6}).to_vector<float>());
}

TEST(MaxUnpool2dLayer, IsWrittenAsText) {
  const Sequential layers{conv2d(3, 2, {.padding = same}), max_pool2d(2),
                          parallel({{"0", relu()}, {"1", Sequential{}}}), max_unpool2d()};
  const Network network = make_network(random_key(1), layers, {5, 6, 3},
                                       {{.name = "y", .kind = OutputKind::image, .loss = "mean-squared-error"}});
  const NetworkText text = text_of(network);
  EXPECT_EQ(text.layers.back().type, "max_unpool2d");
  EXPECT_EQ(text.layers.back().from.size(), 2u);
}

TEST(MaxUnpool2dLayer, SaysWhatDoesNotFit) {
  const auto text = [](std::vector<LayerText> layers) {
    return error_of([&] { layers_of_texts(layers).initial({5, 6, 3}, random_key(1)); });
  };
  const std::string other = text({{.type = "relu", .name = "r"}, {.type = "max_unpool2d", .from = {"r"}}});
  EXPECT_NE(other.find("error[RT0439]: layer 2 (max_unpool2d): max_unpool2d: what it takes was made by no max_pool2d"),
            std::string::npos)
      << other;
  const std::string shape = text({{.type = "max_pool2d", .name = "p", .options = kTwo},
                                  {.type = "max_pool2d", .options = kTwo},
                                  {.type = "max_unpool2d", .from = {"p"}}});
  EXPECT_NE(shape.find("the image has another shape than the max_pool2d layer made"), std::string::npos) << shape;
  EXPECT_NE(shape.find("f32[1,1,1,3] \"BSSC\", f32[1,2,3,3] \"BSSC\""), std::string::npos) << shape;
  const std::string missing =
      text({{.type = "max_pool2d", .name = "pool", .options = kTwo}, {.type = "max_unpool2d", .from = {"pol"}}});
  EXPECT_NE(missing.find("did you mean \"pool\"?"), std::string::npos) << missing;
  const std::string three =
      text({{.type = "max_pool2d", .name = "p", .options = kThree}, {.type = "max_unpool2d", .from = {"p", "p", "p"}}});
  EXPECT_NE(three.find("RT0439"), std::string::npos) << three;
}

}  // namespace
}  // namespace retrace::nn
