#include "retrace/ops/transposed_conv1d/transposed_conv1d.h"

#include <gtest/gtest.h>

#include "retrace/ops/conv1d/conv1d.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(transposed_conv1d,
           transposed_conv1d(Tensor::from<float>({1, 2}, {1, 2, 1}), Tensor::ones({3, 1, 1}), {.stride = 2}));

OP_CASES(transposed_conv1d) {
  const auto with = [](const char* name, Shape x, Shape weights, TransposedConv1dOptions options,
                       const char* labels = "") {
    return OpCase{
        .op = "conv2d_input_gradient",
        .name = std::string("transposed_conv1d_") + name,
        .inputs = {{.shape = x, .labels = labels}, {.shape = weights}},
        .build = [options](const auto& in) { return std::vector<Tensor>{transposed_conv1d(in[0], in[1], options)}; },
        .bound = {.ulp = 1, .relative = 1e-5, .tiny = true}};
  };
  return {with("plain", {2, 5, 3}, {3, 2, 3}, {}, "BTC"),
          with("stride_2", {2, 4, 5}, {4, 3, 5}, {.stride = 2, .cropping = 1}),
          with("same", {1, 5, 2}, {3, 4, 2}, {.stride = 2, .cropping = same}, "BTC"),
          with("causal", {1, 5, 2}, {5, 4, 2}, {.stride = 2, .cropping = causal}),
          with("stride_over_size", {1, 3, 2}, {2, 2, 2}, {.stride = 3, .cropping = causal}),
          with("front_behind", {1, 6, 17}, {4, 18, 17}, {.cropping = {0, 2}}),
          with("empty_batch", {0, 5, 2}, {3, 2, 2}, {})};
}

using Floats = std::vector<float>;

TEST(TransposedConv1d, SpreadsTheKernel) {
  const Tensor x = Tensor::from<float>({1, 2}, {1, 2, 1}, "BTC"), w = Tensor::from<float>({1, 10, 100}, {3, 1, 1});
  const auto made = [&](const TransposedConv1dOptions& options) {
    return transposed_conv1d(x, w, options).to_vector<float>();
  };
  EXPECT_EQ(made({.stride = 2}), (Floats{1, 10, 102, 20, 200}));
  EXPECT_EQ(made({.stride = 2, .cropping = same}), (Floats{1, 10, 102, 20}));
  EXPECT_EQ(made({.cropping = same}), (Floats{12, 120}));
  EXPECT_EQ(made({.cropping = causal}), (Floats{1, 12}));
  EXPECT_EQ(made({.stride = 4, .cropping = causal}), (Floats{1, 10, 100, 0, 2, 20, 200, 0}));
  EXPECT_EQ(made({.cropping = {1, 0}}), (Floats{12, 120, 200}));
  const Tensor y = transposed_conv1d(x, w, Tensor::from<float>({0.5f}, {1}), {.cropping = 1});
  EXPECT_EQ(y.to_vector<float>(), (Floats{12.5f, 120.5f}));
  EXPECT_EQ(y.labels(), "BTC");
}

// <conv1d(a), b> = <a, transposed_conv1d(b)>.
TEST(TransposedConv1d, IsTheAdjointOfConv1d) {
  const Tensor a = reshape(Tensor::arange(2 * 9 * 3), {2, 9, 3}) - 20;
  const Tensor w = reshape(Tensor::arange(4 * 3 * 5), {4, 3, 5}) - 30;
  const Tensor forth = conv1d(a, w, {.stride = 2, .padding = {2, 1}});
  const Tensor b = reshape(Tensor::arange(static_cast<double>(forth.size())), forth.shape()) - 10;
  const Tensor back = transposed_conv1d(b, w, {.stride = 2, .cropping = {2, 1}});
  ASSERT_EQ(back.shape(), (Shape{2, 9, 3}));
  EXPECT_EQ(sum(forth * b).number(), sum(a * back).number());
}

TEST(TransposedConv1d, SaysWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 5, 3}), w = Tensor::zeros({3, 4, 3});
  const auto text = [](const Tensor& a, const Tensor& b, const TransposedConv1dOptions& options = {}) {
    return error_text([&] { transposed_conv1d(a, b, options, {"model.cpp", 7}); });
  };
  EXPECT_EQ(text(x, Tensor::zeros({3, 3, 4})),
            "error[RT0437]: transposed_conv1d: the weights do not fit x\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,5,3], weights f32[3,3,4]\n"
            "  expected: x [batch,length,channels] and weights [size,filters,channels]");
  EXPECT_NE(text(x, Tensor::zeros({3, 3})).find("RT0437"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 3}), w).find("RT0271"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 5, 3}, DType::f32, "BSC"), w).find("RT0272"), std::string::npos);
  EXPECT_NE(text(x, w, {.cropping = 4}).find("RT0158"), std::string::npos);
}

}  // namespace
}  // namespace retrace
