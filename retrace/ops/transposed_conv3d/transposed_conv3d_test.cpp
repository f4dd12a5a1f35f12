#include "retrace/ops/transposed_conv3d/transposed_conv3d.h"

#include <gtest/gtest.h>

#include "retrace/ops/cast/cast.h"
#include "retrace/ops/conv3d/conv3d.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(transposed_conv3d, transposed_conv3d(Tensor::from<float>({1, 2}, {1, 2, 1, 1, 1}),
                                                Tensor::ones({3, 1, 1, 1, 1}), {.stride = {2, 1, 1}}));

OP_CASES(transposed_conv3d) {
  const auto with = [](const char* name, Shape x, Shape weights, TransposedConv3dOptions options,
                       const char* labels = "") {
    return OpCase{
        .op = "conv2d_input_gradient",
        .name = std::string("transposed_conv3d_") + name,
        .inputs = {{.shape = x, .labels = labels}, {.shape = weights}},
        .build = [options](const auto& in) { return std::vector<Tensor>{transposed_conv3d(in[0], in[1], options)}; },
        .bound = {.ulp = 1, .relative = 1e-5, .tiny = true}};
  };
  return {with("plain", {2, 3, 2, 3, 3}, {3, 2, 2, 2, 3}, {}, "BSSSC"),
          with("stride_2", {1, 3, 2, 2, 4}, {2, 2, 2, 3, 4}, {.stride = 2}),
          with("cropped", {1, 3, 3, 2, 2}, {4, 3, 4, 3, 2}, {.stride = {2, 1, 2}, .cropping = 1}, "BSSSC"),
          with("same", {1, 2, 3, 2, 2}, {3, 3, 3, 2, 2}, {.stride = 2, .cropping = same}),
          with("stride_over_size", {1, 2, 2, 2, 2}, {1, 2, 2, 2, 2}, {.stride = {3, 3, 2}, .cropping = same}),
          with("six_croppings", {1, 3, 3, 2, 3}, {3, 3, 2, 2, 3}, {.cropping = {3, 1, 0, 1, 2, 0}}),
          with("one_image", {2, 3, 2, 2, 2}, {1, 2, 2, 3, 2}, {}),
          with("empty_batch", {0, 2, 2, 2, 2}, {2, 2, 2, 2, 2}, {.stride = 2})};
}

using Floats = std::vector<float>;

TEST(TransposedConv3d, SpreadsTheKernelAlongTheDepth) {
  const Tensor x = Tensor::from<float>({1, 2}, {1, 2, 1, 1, 1}, "BSSSC");
  const Tensor w = Tensor::from<float>({1, 10, 100}, {3, 1, 1, 1, 1});
  const auto made = [&](const TransposedConv3dOptions& options) {
    return transposed_conv3d(x, w, options).to_vector<float>();
  };
  EXPECT_EQ(made({}), (Floats{1, 12, 120, 200}));
  EXPECT_EQ(made({.stride = {2, 1, 1}}), (Floats{1, 10, 102, 20, 200}));
  EXPECT_EQ(made({.stride = {2, 1, 1}, .cropping = same}), (Floats{1, 10, 102, 20}));
  EXPECT_EQ(made({.stride = {4, 1, 1}, .cropping = same}), (Floats{1, 10, 100, 0, 2, 20, 200, 0}));
  EXPECT_EQ(made({.cropping = {1, 0, 0, 0, 0, 0}}), (Floats{12, 120, 200}));
  const Tensor y = transposed_conv3d(x, w, Tensor::from<float>({0.5f}, {1}), {.cropping = {1, 0, 0}});
  EXPECT_EQ(y.to_vector<float>(), (Floats{12.5f, 120.5f}));
  EXPECT_EQ(y.labels(), "BSSSC");
}

// <conv3d(a), b> = <a, transposed_conv3d(b)>, in whole numbers that f32 holds.
TEST(TransposedConv3d, IsTheAdjointOfConv3d) {
  for (int64_t stride = 1; stride <= 3; ++stride)
    for (int64_t size = 1; size <= 4; ++size) {
      const int64_t depth = stride * 2 + size - 1;  // of three windows, with a padding of 1 in front
      const Shape shape{1, depth, 3, 4, 2}, kernel{size, 2, 2, 2, 3};
      const Tensor a = reshape(Tensor::arange(static_cast<double>(shape.count())) - 9, shape);
      const Tensor w = reshape(Tensor::arange(static_cast<double>(kernel.count())) - 7, kernel);
      const Tensor forth = conv3d(a, w, {.stride = {stride, 1, 2}, .padding = {1, 0, 0, 0, 0, 0}});
      const Tensor b = reshape(Tensor::arange(static_cast<double>(forth.size())) - 5, forth.shape());
      const Tensor back = transposed_conv3d(b, w, {.stride = {stride, 1, 2}, .cropping = {1, 0, 0, 0, 0, 0}});
      ASSERT_EQ(back.shape(), shape) << stride << " " << size;
      const auto exact = [](const Tensor& p, const Tensor& q) {
        return sum(cast(p, DType::f64) * cast(q, DType::f64)).number();
      };
      EXPECT_EQ(exact(forth, b), exact(a, back)) << stride << " " << size;
    }
}

TEST(TransposedConv3d, SaysWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 5, 4, 4, 3}), w = Tensor::zeros({3, 3, 3, 4, 3});
  const auto text = [](const Tensor& a, const Tensor& b, const TransposedConv3dOptions& options = {}) {
    return error_text([&] { transposed_conv3d(a, b, options, {"model.cpp", 7}); });
  };
  EXPECT_EQ(text(x, Tensor::zeros({3, 3, 3, 3, 4})),
            "error[RT0438]: transposed_conv3d: the weights do not fit x\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,5,4,4,3], weights f32[3,3,3,3,4]\n"
            "  expected: x [batch,depth,height,width,channels] and weights [depth,height,width,filters,channels]");
  EXPECT_NE(text(Tensor::zeros({2, 4, 4, 3}), w).find("RT0279"), std::string::npos);
  EXPECT_NE(text(x, w, {.stride = {0, 1, 1}}).find("the stride of the depth is 0"), std::string::npos);
  EXPECT_NE(text(x, w, {.cropping = {-1, 0, 0}}).find("the cropping -1, -1 of the depth"), std::string::npos);
  EXPECT_NE(text(x, w, {.cropping = {4, 0, 0}}).find("the output would have the depth -1"), std::string::npos);
  EXPECT_NE(error_text([&] { transposed_conv3d(x, w, Tensor::zeros({3})); }).find("does not fit 4 filters"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace
