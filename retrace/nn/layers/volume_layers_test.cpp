// Layers over volumes, in a program and as a job writes them.
#include <gtest/gtest.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers.h"
#include "retrace/ops/ops.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

using VolumeFloats = std::vector<float>;
using VolumeSizes = std::vector<int64_t>;

Tensor some_volume() {
  VolumeFloats values;
  for (int i = 0; i < 2 * 4 * 5 * 3 * 2; ++i) values.push_back(static_cast<float>(i * 7 % 23) / 4 - 2);
  return Tensor::from<float>(values, {2, 4, 5, 3, 2}, "BSSSC");
}

VolumeFloats pooled_volume(const Layer& layer, const Tensor& x) {
  return layer.forward(x, {}, {}, Phase::train).y.tensor().to_vector<float>();
}

// The layer of a job file.
Layer volume_layer(const char* type, const OptionValues& options) {
  LayerText text{.type = type, .options = options};
  std::vector<Error> errors;
  const Layer made = kind_of(all_layers(), type, "layer", {}).layer(completed_options(text, type, errors));
  EXPECT_TRUE(errors.empty()) << type;
  return made;
}

TEST(VolumeLayers, Conv3dIsTheOpWithItsParameters) {
  const Tensor x = some_volume();
  const Conv3dOptions options{.stride = {1, 2, 1}, .padding = {1, 0, 2, 0, 1, 1}, .dilation = {1, 1, 2}};
  const Layer layer = conv3d({2, 3, 2}, 4, options);
  const auto [p, state] = layer.initial({4, 5, 3, 2}, random_key(1));
  const Tree& own = p["conv3d_1"];
  EXPECT_EQ(own["weights"].tensor().shape(), (Shape{2, 3, 2, 2, 4}));
  const Tensor y = layer.forward(x, p, state, Phase::train).y.tensor();
  EXPECT_EQ(y.labels(), "BSSSC");
  const Tensor expected = retrace::conv3d(x, own["weights"].tensor(), own["bias"].tensor(), options);
  EXPECT_EQ(y.to_vector<float>(), expected.to_vector<float>());
  const Layer read = volume_layer("conv3d", layer.made_from()->options);
  EXPECT_EQ(read.forward(x, p, state, Phase::train).y.tensor().to_vector<float>(), expected.to_vector<float>());
  EXPECT_EQ(conv3d(3, 4, {.padding = same}).made_from()->options.text("padding"), "same");
  EXPECT_EQ(conv3d(3, 4, {.padding = {1, 2, 2}}).made_from()->options.integers("padding"), (VolumeSizes{1, 2, 2}));
}

TEST(VolumeLayers, TransposedConv3dIsTheOpWithItsParameters) {
  const Tensor x = some_volume();
  const TransposedConv3dOptions options{.stride = {2, 1, 1}, .cropping = {1, 0, 0, 1, 0, 0}};
  const Layer layer = transposed_conv3d({3, 2, 2}, 4, options);
  const auto [p, state] = layer.initial({4, 5, 3, 2}, random_key(1));
  const Tree& own = p["transposed_conv3d_1"];
  EXPECT_EQ(own["weights"].tensor().shape(), (Shape{3, 2, 2, 4, 2}));
  const Tensor y = layer.forward(x, p, state, Phase::train).y.tensor();
  EXPECT_EQ(y.spec().text(), "f32[2,8,5,4,4] \"BSSSC\"");
  const Tensor expected = retrace::transposed_conv3d(x, own["weights"].tensor(), own["bias"].tensor(), options);
  EXPECT_EQ(y.to_vector<float>(), expected.to_vector<float>());
  const Layer read = volume_layer("transposed_conv3d", layer.made_from()->options);
  EXPECT_EQ(read.forward(x, p, state, Phase::train).y.tensor().to_vector<float>(), expected.to_vector<float>());
  EXPECT_EQ(transposed_conv3d(3, 4, {.cropping = same}).made_from()->options.text("cropping"), "same");
}

TEST(VolumeLayers, PoolsAreTheirOps) {
  const Tensor x = some_volume();
  const OptionValues two{{"size", int64_t{2}}};
  EXPECT_EQ(pooled_volume(max_pool3d(2), x), retrace::max_pool3d(x, 2).to_vector<float>());
  EXPECT_EQ(pooled_volume(volume_layer("max_pool3d", two), x), retrace::max_pool3d(x, 2).to_vector<float>());
  const OptionValues sizes{{"size", VolumeSizes{3, 2, 2}}};
  EXPECT_EQ(pooled_volume(adaptive_average_pool3d({3, 2, 2}), x),
            retrace::adaptive_average_pool3d(x, {3, 2, 2}).to_vector<float>());
  EXPECT_EQ(pooled_volume(volume_layer("adaptive_average_pool3d", sizes), x),
            pooled_volume(adaptive_average_pool3d({3, 2, 2}), x));
  EXPECT_EQ(pooled_volume(adaptive_max_pool3d({3, 2, 2}), x),
            retrace::adaptive_max_pool3d(x, {3, 2, 2}).to_vector<float>());
  EXPECT_EQ(pooled_volume(volume_layer("adaptive_max_pool3d", sizes), x),
            pooled_volume(adaptive_max_pool3d({3, 2, 2}), x));
  const AveragePool3dOptions options{.stride = {1, 2, 1}, .padding = 1, .count_padding = true};
  const VolumeFloats expected = retrace::average_pool3d(x, {2, 3, 2}, options).to_vector<float>();
  const Layer average = average_pool3d({2, 3, 2}, options);
  EXPECT_EQ(pooled_volume(average, x), expected);
  EXPECT_EQ(pooled_volume(volume_layer("average_pool3d", average.made_from()->options), x), expected);
  EXPECT_EQ(pooled_volume(volume_layer("global_max_pool3d", {}), x), retrace::global_max_pool3d(x).to_vector<float>());
  EXPECT_EQ(pooled_volume(global_average_pool3d(), x), retrace::global_average_pool3d(x).to_vector<float>());
}

TEST(VolumeLayers, SayWhatTheyTake) {
  const std::string text = error_of([] { conv3d(3, 2).initial({4, 4, 1}, random_key(1)); });
  EXPECT_NE(text.find("RT0279"), std::string::npos) << text;
  EXPECT_NE(error_of([] { volume_layer("max_pool3d", {{"size", VolumeSizes{1, 2}}}); }).find("RT0453"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              volume_layer("max_pool3d", {{"size", int64_t{2}}, {"padding", VolumeSizes{1, 2}}});
            }).find("padding has 2 numbers"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace::nn
