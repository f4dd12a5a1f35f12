// Layers that move the numbers of a sample: each computes its op, in a program and as a job writes it.
#include <gtest/gtest.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers.h"
#include "retrace/ops/ops.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

Tensor numbers(const Shape& shape, const char* labels) {
  std::vector<float> all;
  for (int64_t i = 0; i < shape.count(); ++i) all.push_back(static_cast<float>(i * 7 % 31));
  return Tensor::from(all, shape, labels);
}

Tensor moved(const Layer& layer, const Tensor& x) { return layer.forward(x, {}, {}, Phase::train).y.tensor(); }

// The layer and the one that a job makes of what it says of itself give `expected`, with these labels.
void expect_output(const Layer& layer, const Tensor& x, const Tensor& expected, const char* labels) {
  const LayerMade& made = *layer.made_from();
  LayerText text{.type = made.type, .options = made.options};
  std::vector<Error> errors;
  const Layer read = kind_of(all_layers(), made.type, "layer", {}).layer(completed_options(text, made.type, errors));
  EXPECT_TRUE(errors.empty()) << made.type;
  for (const Layer& one : {layer, read}) {
    const Tensor y = moved(one, x);
    EXPECT_EQ(y.shape(), expected.shape()) << made.type;
    EXPECT_EQ(y.labels(), labels) << made.type;
    EXPECT_EQ(y.to_vector<float>(), expected.to_vector<float>()) << made.type;
  }
}

TEST(SampleParts, AreTheirOps) {
  const Tensor image = numbers({2, 4, 6, 8}, "BSSC"), row = numbers({3, 12}, "BC"), series = numbers({2, 5, 4}, "BTC");
  expect_output(reshape({3, 4}), row, retrace::reshape(row, {3, 3, 4}), "BTC");
  expect_output(reshape({-1}), image, retrace::flatten(image), "BC");
  expect_output(reshape({2, -1, 2}), row, retrace::reshape(row, {3, 2, 3, 2}), "BSSC");
  expect_output(transpose({1, 0}), series, retrace::transpose(series, {0, 2, 1}), "BTC");
  expect_output(transpose({2, 0, 1}), image, retrace::transpose(image, {0, 3, 1, 2}), "BSSC");
  expect_output(pixel_shuffle(2), image, retrace::pixel_shuffle(image, 2), "BSSC");
  expect_output(glu(), image, retrace::glu(image, 3), "BSSC");
  expect_output(crop2d({.size = {2, 3}}), image, slice(image, {.begin = {0, 1, 1}, .end = {2, 3, 4}}), "BSSC");
  expect_output(crop2d({.cropping = {1, 0, 2, 3}}), image, slice(image, {.begin = {0, 1, 2}, .end = {2, 4, 3}}),
                "BSSC");
  expect_output(pad2d(1), image, pad(pad(image, 1, {.before = 1, .after = 1}), 2, {.before = 1, .after = 1}), "BSSC");
  const PadMargins mirror{.before = 2, .after = 1, .mode = "reflect"};
  expect_output(pad2d({2, 1, 0, 0}, {.mode = "reflect"}), image, pad(image, 1, mirror), "BSSC");
}

TEST(SampleParts, SayWhatDoesNotFit) {
  const auto text = [](const Layer& layer, const Shape& sample) {
    return error_of([&] { layer.initial(sample, random_key(1)); });
  };
  const std::string cropped = text(crop2d({.size = 9}), {4, 6, 8});
  EXPECT_NE(cropped.find("error[RT0544]: crop2d: it needs a part of the image"), std::string::npos) << cropped;
  EXPECT_NE(text(crop2d({}), {4, 6, 8}).find("RT0544"), std::string::npos);
  EXPECT_NE(text(crop2d({.size = 2, .cropping = 1}), {4, 6, 8}).find("RT0544"), std::string::npos);
  EXPECT_NE(text(crop2d({.cropping = 2}), {4, 6, 8}).find("RT0544"), std::string::npos);
  EXPECT_NE(text(pad2d(same), {4, 6, 8}).find("RT0549"), std::string::npos);
  EXPECT_NE(text(pad2d(1), {4, 6}), "");
  EXPECT_NE(text(reshape({5}), {4, 6}), "");
  EXPECT_NE(text(transpose({0, 0}), {4, 6}), "");
  EXPECT_NE(text(pixel_shuffle(3), {4, 6, 8}).find("RT0541"), std::string::npos);
  EXPECT_NE(text(glu(), {3}), "");
}

// What learns behind them has the shapes that they make.
TEST(SampleParts, StandInANetwork) {
  const Layer network = Sequential{
      reshape({4, 4, 1}), pad2d(1, {.mode = "replicate"}), conv2d(3, 8), pixel_shuffle(2), crop2d({.size = 6}), glu(),
      linear(3)};
  const auto [parameters, state] = network.initial({16}, random_key(1));
  EXPECT_EQ(parameters["linear_1"]["weights"].tensor().shape(), (Shape{3, 36}));
  const Tensor y = network.forward(numbers({5, 16}, "BC"), parameters, state, Phase::train).y.tensor();
  EXPECT_EQ(y.shape(), (Shape{5, 3}));
}

}  // namespace
}  // namespace retrace::nn
