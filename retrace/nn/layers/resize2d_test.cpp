#include "retrace/nn/layers/resize2d.h"

#include <gtest/gtest.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layer_made.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

using Floats = std::vector<float>;

Floats resized(const Layer& layer, const Tensor& x) {
  return layer.forward(x, {}, {}, Phase::train).y.tensor().to_vector<float>();
}

Layer read_layer(const OptionValues& options) {
  LayerText text{.type = "resize2d", .options = options};
  std::vector<Error> errors;
  const Layer made = kind_of(all_layers(), "resize2d", "layer", {}).layer(completed_options(text, "resize2d", errors));
  EXPECT_TRUE(errors.empty());
  return made;
}

TEST(Resize2dLayer, IsTheOpAsAProgramAndAJobSayIt) {
  Floats values;
  for (int i = 0; i < 2 * 3 * 4; ++i) values.push_back(static_cast<float>(i * 7 % 11));
  const Tensor x = Tensor::from<float>(values, {2, 3, 4, 1}, "BSSC");
  const Resize2dOptions both[] = {{.factor = 2},
                                  {.size = {5, 2}, .method = "bilinear"},
                                  {.factor = {1.5, 3}, .method = "bilinear", .align_corners = true}};
  for (const auto& options : both) {
    const Floats expected = retrace::resize2d(x, options).to_vector<float>();
    const Layer layer = resize2d(options);
    EXPECT_EQ(resized(layer, x), expected);
    EXPECT_EQ(resized(read_layer(layer.made_from()->options), x), expected);
  }
  EXPECT_EQ(resized(read_layer({{"factor", int64_t{2}}}), x), retrace::resize2d(x, {.factor = 2}).to_vector<float>());
  EXPECT_NE(error_of([&] { resized(read_layer({}), x); }).find("RT0277"), std::string::npos);
}

}  // namespace
}  // namespace retrace::nn
