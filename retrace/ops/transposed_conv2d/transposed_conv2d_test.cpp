#include "retrace/ops/transposed_conv2d/transposed_conv2d.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(transposed_conv2d, transposed_conv2d(Tensor::ones({1, 2, 2, 1}), Tensor::ones({2, 2, 1, 1}), {.stride = 2}));

OP_CASES(transposed_conv2d) {
  const auto with = [](const char* name, Shape x, Shape weights, TransposedConv2dOptions options) {
    return OpCase{
        .op = "conv2d_input_gradient",
        .name = std::string("transposed_") + name,
        .inputs = {{.shape = x}, {.shape = weights}},
        .build = [options](const auto& in) { return std::vector<Tensor>{transposed_conv2d(in[0], in[1], options)}; },
        .bound = {.ulp = 1, .relative = 1e-5, .tiny = true}};
  };
  return {with("plain", {2, 3, 4, 3}, {3, 3, 2, 3}, {}),
          with("stride_2", {2, 3, 4, 5}, {2, 2, 3, 5}, {.stride = 2}),
          with("cropped", {1, 4, 4, 3}, {4, 4, 8, 3}, {.stride = 2, .cropping = 1}),
          with("same_3x3", {1, 3, 2, 2}, {3, 3, 2, 2}, {.stride = 2, .cropping = same}),
          with("stride_over_kernel", {1, 3, 2, 2}, {1, 2, 2, 2}, {.stride = {3, 4}, .cropping = same}),
          with("four_croppings", {1, 3, 3, 17}, {3, 3, 18, 17}, {.cropping = {0, 1, 2, 0}})};
}

Tensor ones(const Shape& shape, const std::string& labels = "") { return Tensor::full(1, shape, DType::f32, labels); }

TEST(TransposedConv2d, spreads_the_kernel) {
  const Tensor x = Tensor::from<float>({1, 2}, {1, 1, 2, 1}, "BSSC"),
               w = Tensor::from<float>({1, 10, 100}, {1, 3, 1, 1});
  EXPECT_EQ(transposed_conv2d(x, w, {.stride = {1, 2}}).to_vector<float>(), (std::vector<float>{1, 10, 102, 20, 200}));
  EXPECT_EQ(transposed_conv2d(x, w, {.stride = {1, 2}}).labels(), "BSSC");
  const Tensor bias = Tensor::from<float>({0.5f}, {1});
  EXPECT_EQ(transposed_conv2d(x, Tree{{"weights", w}, {"bias", bias}}, {.cropping = {0, 0, 1, 0}}).to_vector<float>(),
            (std::vector<float>{12.5f, 120.5f, 200.5f}));
}

TEST(TransposedConv2d, sizes) {
  for (int64_t in = 1; in <= 4; ++in)
    for (int64_t stride = 1; stride <= 4; ++stride)
      for (int64_t kernel = 1; kernel <= 5; ++kernel) {
        const Tensor x = ones({1, in, in, 2}), w = ones({kernel, kernel, 3, 2});
        const int64_t full = stride * (in - 1) + kernel;
        EXPECT_EQ(transposed_conv2d(x, w, {.stride = stride}).shape(), (Shape{1, full, full, 3}));
        EXPECT_EQ(transposed_conv2d(x, w, {.stride = stride, .cropping = same}).shape(),
                  (Shape{1, stride * in, stride * in, 3}));
      }
}

TEST(TransposedConv2d, says_what_does_not_fit) {
  const Place place{"train.cpp", 9};
  const TransposedConv2dOptions none;
  EXPECT_EQ(error_text([&] { transposed_conv2d(ones({1, 2, 2, 3}), ones({2, 2, 3, 4}), none, place); }),
            "error[RT0158]: transposed_conv2d: x has 3 channels, weights expect 4\n"
            "  where:    train.cpp:9\n"
            "  got:      x f32[1,2,2,3], weights f32[2,2,3,4]\n"
            "  expected: channels of x = last axis of the weights");
  EXPECT_EQ(error_text([&] { transposed_conv2d(ones({1, 1, 1, 3}), ones({2, 2, 3, 3}), {.cropping = 1}, place); }),
            "error[RT0158]: transposed_conv2d: the output would have the size 0 x 0\n"
            "  where:    train.cpp:9\n"
            "  got:      x f32[1,1,1,3], weights f32[2,2,3,3]\n"
            "  expected: an output of at least 1 x 1: stride * (in - 1) + kernel - cropping");
  EXPECT_EQ(error_text([&] { transposed_conv2d(ones({2, 3}), ones({2, 2, 3, 3}), none, place); }),
            "error[RT0158]: transposed_conv2d: x has 2 axes, weights have 4\n"
            "  where:    train.cpp:9\n"
            "  got:      x f32[2,3], weights f32[2,2,3,3]\n"
            "  expected: x [batch,height,width,channels] and weights [kernel height,kernel width,filters,channels]");
  EXPECT_EQ(error_text([&] { transposed_conv2d(ones({1, 2, 2, 3}), ones({2, 2, 4, 3}), ones({3}), none, place); }),
            "error[RT0158]: transposed_conv2d: the bias f32[3] does not fit 4 filters\n"
            "  where:    train.cpp:9\n"
            "  got:      x f32[1,2,2,3], weights f32[2,2,4,3]\n"
            "  expected: a bias of the shape [4], or one number");
}

}  // namespace
}  // namespace retrace
