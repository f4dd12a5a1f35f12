#include "retrace/ops/conv1d/conv1d.h"

#include <gtest/gtest.h>

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(conv1d, conv1d(reshape(Tensor::arange(5), {1, 5, 1}), Tensor::ones({3, 1, 1}), {.padding = causal}));

OP_CASES(conv1d) {
  struct Geometry {
    const char* name;
    Shape x, weights;
    Conv1dOptions options = {};
    std::string labels = "";
  };
  const std::vector<Geometry> all = {
      {"of_conv1d_same", {2, 9, 3}, {3, 3, 4}, {.padding = same}},
      {"of_conv1d_causal_dilated", {2, 11, 3}, {3, 3, 5}, {.padding = causal, .dilation = 2}, "BTC"},
      {"of_conv1d_stride_2", {1, 10, 2}, {4, 2, 3}, {.stride = 2}, "BTC"},
      {"of_conv1d_front_behind", {1, 6, 2}, {3, 2, 2}, {.padding = {2, 0}}},
      {"of_conv1d_groups", {2, 7, 6}, {3, 3, 4}, {.padding = same, .groups = 2}},
      {"of_conv1d_one_position", {3, 1, 2}, {1, 2, 3}},
      {"of_conv1d_empty_batch", {0, 5, 2}, {3, 2, 3}, {.padding = 1}}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, weights, options, labels] : all) {
    const CaseFunction forward = [options = options](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{conv1d(in[0], in[1], options)};
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

TEST(Conv1d, DoesNotFlipAndPadsWhereItIsTold) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {1, 4, 1}, "BTC"), w = Tensor::from<float>({1, 10}, {2, 1, 1});
  const Tensor y = conv1d(x, w);
  EXPECT_EQ(y.to_vector<float>(), (Floats{21, 32, 43}));
  EXPECT_EQ(y.labels(), "BTC");
  EXPECT_EQ(conv1d(x, w, {.padding = causal}).to_vector<float>(), (Floats{10, 21, 32, 43}));
  EXPECT_EQ(conv1d(x, w, {.padding = same}).to_vector<float>(), (Floats{21, 32, 43, 4}));
  EXPECT_EQ(conv1d(x, w, {.padding = {0, 1}}).to_vector<float>(), (Floats{21, 32, 43, 4}));
  EXPECT_EQ(conv1d(x, w, {.padding = causal, .dilation = 2}).to_vector<float>(), (Floats{10, 20, 31, 42}));
  EXPECT_EQ(conv1d(x, w, Tensor::from<float>({0.5f}, {1}), {.stride = 2}).to_vector<float>(), (Floats{21.5f, 43.5f}));
}

TEST(Conv1d, SaysWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 5, 3}), w = Tensor::zeros({3, 3, 4});
  const auto text = [](const Tensor& a, const Tensor& b) {
    return error_text([&] { conv1d(a, b, {}, {"model.cpp", 7}); });
  };
  EXPECT_EQ(text(Tensor::zeros({2, 3}), w),
            "error[RT0271]: conv1d: x has 2 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3]\n"
            "  expected: 3 axes [batch,length,channels]\n"
            "  help:     of layers, put this one before those that make features, and take data of sequences");
  EXPECT_NE(text(Tensor::zeros({2, 5, 3}, DType::f32, "BSC"), w).find("RT0272"), std::string::npos);
  EXPECT_NE(text(x, Tensor::zeros({3, 4})).find("RT0273"), std::string::npos);
  EXPECT_NE(text(x, Tensor::zeros({3, 2, 4})).find("RT0155"), std::string::npos);
  EXPECT_NE(text(x, Tensor::zeros({7, 3, 4})).find("RT0151"), std::string::npos);
}

}  // namespace
}  // namespace retrace
