#include "retrace/ops/conv3d/conv3d.h"

#include <gtest/gtest.h>

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(conv3d, conv3d(Tensor::ones({1, 3, 3, 3, 1}), Tensor::ones({3, 3, 3, 1, 1})));

OP_CASES(conv3d) {
  struct Geometry {
    const char* name;
    Shape x, weights;
    Conv3dOptions options = {};
    std::string labels = "";
  };
  const std::vector<Geometry> all = {
      {"of_conv3d_same", {2, 3, 4, 5, 3}, {3, 3, 3, 3, 4}, {.padding = same}, "BSSSC"},
      {"of_conv3d_strides", {1, 5, 4, 6, 2}, {2, 3, 1, 2, 3}, {.stride = {2, 1, 2}}},
      {"of_conv3d_dilated", {1, 6, 5, 4, 2}, {3, 2, 2, 2, 3}, {.padding = {2, 1, 1}, .dilation = {2, 3, 1}}, "BSSSC"},
      {"of_conv3d_six_paddings", {1, 3, 3, 2, 2}, {2, 2, 2, 2, 2}, {.padding = {1, 0, 0, 1, 1, 1}}},
      {"of_conv3d_groups", {2, 3, 3, 3, 6}, {2, 3, 2, 3, 4}, {.padding = same, .groups = 2}},
      {"of_conv3d_one_image", {2, 3, 4, 3, 2}, {1, 3, 3, 2, 2}, {.stride = {2, 1, 1}}},
      {"of_conv3d_one_channel", {1, 4, 5, 5, 1}, {3, 3, 3, 1, 8}},
      {"of_conv3d_empty_batch", {0, 3, 4, 3, 2}, {3, 3, 3, 2, 3}, {.padding = 1}}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, weights, options, labels] : all) {
    const CaseFunction forward = [options = options](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{conv3d(in[0], in[1], options)};
    };
    cases.push_back(
        {.op = "conv2d",
         .name = name,
         .inputs = {{.shape = x, .labels = labels}, {.shape = weights}},
         .build = forward,
         .bound = {.ulp = 1, .relative = 260 * 0x1p-24, .tiny = true},
         .magnitude = [forward](const std::vector<Tensor>& in) { return forward({abs(in[0]), abs(in[1])}); }});
  }
  return cases;
}

using Floats = std::vector<float>;

TEST(Conv3d, SumsOverTheDepthOfItsWindow) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {1, 4, 1, 1, 1}, "BSSSC");
  const Tensor w = Tensor::from<float>({1, 10}, {2, 1, 1, 1, 1});
  const Tensor y = conv3d(x, w);
  EXPECT_EQ(y.to_vector<float>(), (Floats{21, 32, 43}));
  EXPECT_EQ(y.labels(), "BSSSC");
  EXPECT_EQ(conv3d(x, w, {.padding = same}).to_vector<float>(), (Floats{21, 32, 43, 4}));
  EXPECT_EQ(conv3d(x, w, {.padding = {1, 0, 0, 0, 0, 0}}).to_vector<float>(), (Floats{10, 21, 32, 43}));
  EXPECT_EQ(conv3d(x, w, {.dilation = {2, 1, 1}}).to_vector<float>(), (Floats{31, 42}));
  EXPECT_EQ(conv3d(x, w, Tensor::from<float>({0.5f}, {1}), {.stride = 2}).to_vector<float>(), (Floats{21.5f, 43.5f}));
}

TEST(Conv3d, SaysWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 5, 4, 4, 3}), w = Tensor::zeros({3, 3, 3, 3, 4});
  const auto text = [](const Tensor& a, const Tensor& b, const Conv3dOptions& options = {}) {
    return error_text([&] { conv3d(a, b, options, {"model.cpp", 7}); });
  };
  EXPECT_EQ(text(Tensor::zeros({2, 4, 4, 3}), w),
            "error[RT0279]: conv3d: x has 4 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,4,4,3]\n"
            "  expected: 5 axes [batch,depth,height,width,channels]\n"
            "  help:     of layers, put this one before those that make features, and take data of volumes");
  EXPECT_EQ(text(x, Tensor::zeros({3, 3, 3, 4})),
            "error[RT0281]: conv3d: the weights have 4 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,5,4,4,3], weights f32[3,3,3,4], groups 1\n"
            "  expected: 5 axes [depth,height,width,channels,filters]");
  EXPECT_EQ(text(x, Tensor::zeros({6, 3, 3, 3, 4})),
            "error[RT0280]: conv3d: a window of 6 does not fit into a depth of 5\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,5,4,4,3]\n"
            "  expected: a depth with its padding at least as large as the window with its dilation\n"
            "  help:     add padding: .padding = rt::same, in a job file padding = \"same\"");
  EXPECT_NE(text(Tensor::zeros({2, 5, 4, 4, 3}, DType::f32, "BTSSC"), w).find("RT0279"), std::string::npos);
  EXPECT_NE(text(x, w, {.groups = 2}).find("weights of 3 channels do not fit 3 channels in 2 groups"),
            std::string::npos);
  EXPECT_NE(text(x, w, {.groups = 0}).find("RT0281"), std::string::npos);
  EXPECT_NE(text(x, w, {.stride = {0, 1, 1}}).find("the stride of the depth is 0"), std::string::npos);
  EXPECT_NE(text(x, w, {.padding = {-1, 0, 0}}).find("the padding in front of the depth is -1"), std::string::npos);
  EXPECT_NE(text(x, Tensor::zeros({3, 5, 3, 3, 4})).find("RT0151"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 5, 4, 4, 3}, DType::i32), w).find("RT0131"), std::string::npos);
}

}  // namespace
}  // namespace retrace
