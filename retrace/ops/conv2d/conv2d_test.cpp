#include "retrace/ops/conv2d/conv2d.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/abs/abs.h"
#include "retrace/ops/conv2d/conv2d_gradients.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

// A sum of up to 256 products differs from the exact one by at most (256 + tree) half units of the sum of their sizes.
constexpr Bound kSumBound{.ulp = 1, .relative = 260 * 0x1p-24, .tiny = true};

CaseFunction convolution(Conv2dOptions options) {
  return [options](const std::vector<Tensor>& in) { return std::vector<Tensor>{conv2d(in[0], in[1], options)}; };
}
CaseFunction of_sizes(CaseFunction f) {
  return [f](const std::vector<Tensor>& in) { return f({abs(in[0]), abs(in[1])}); };
}

struct Geometry {
  const char* name;
  Shape x, weights;
  Conv2dOptions options = {};
  std::string labels = "";
};

std::vector<Geometry> geometries() {
  return {{"same_3x3", {2, 5, 7, 3}, {3, 3, 3, 4}, {.padding = same}},
          {"no_padding", {1, 4, 5, 2}, {2, 3, 2, 3}, {}},
          {"same_stride_2", {2, 6, 5, 3}, {3, 3, 3, 5}, {.stride = 2, .padding = same}},
          {"stride_2_1", {1, 5, 6, 2}, {3, 2, 2, 3}, {.stride = {2, 1}, .padding = {1, 0}}},
          {"one_by_one_stride_2", {2, 5, 5, 4}, {1, 1, 4, 6}, {.stride = 2}},
          {"dilated", {1, 7, 8, 2}, {3, 3, 2, 3}, {.padding = same, .dilation = {2, 3}}},
          {"four_paddings", {1, 3, 4, 2}, {3, 3, 2, 2}, {.padding = {0, 1, 2, 0}}},
          {"two_groups", {2, 4, 4, 6}, {3, 3, 3, 4}, {.padding = same, .groups = 2}},
          {"depthwise", {1, 5, 5, 5}, {3, 3, 1, 5}, {.padding = 1, .groups = 5}},
          {"depthwise_twice", {1, 4, 4, 3}, {3, 3, 1, 6}, {.padding = 1, .groups = 3}},
          {"odd_channels", {1, 4, 3, 19}, {3, 3, 19, 17}, {.padding = same}},
          {"many_channels", {1, 3, 3, 40}, {3, 3, 40, 33}, {.padding = same}},
          {"one_pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, {}},
          {"kernel_over_image", {1, 2, 2, 1}, {5, 5, 1, 2}, {.padding = same}},
          {"empty_batch", {0, 4, 4, 2}, {3, 3, 2, 3}, {.padding = same}},
          {"labelled", {2, 4, 4, 2}, {3, 3, 2, 3}, {.padding = same}, "BSSC"}};
}

OP_EXAMPLE(conv2d, conv2d(Tensor::ones({1, 3, 3, 1}), Tensor::ones({3, 3, 1, 1}), {.padding = same}));

OP_CASES(conv2d) {
  std::vector<OpCase> cases;
  for (const auto& [name, x, weights, options, labels] : geometries()) {
    const auto forward = convolution(options);
    cases.push_back({.op = "conv2d",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels}, {.shape = weights}},
                     .build = forward,
                     .bound = kSumBound,
                     .magnitude = of_sizes(forward)});
    // The gradients, as ops of their own: of the sum of y * y, so that dy is a computed image.
    const auto backward = [options = options](const std::vector<Tensor>& in, size_t which) {
      const Tensor y = conv2d(in[0], in[1], options);
      return std::vector<Tensor>{gradients(sum(y * y), std::vector<Tensor>{in[which]})[0]};
    };
    cases.push_back({.op = "conv2d_input_gradient",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels}, {.shape = weights}},
                     .build = [backward](const auto& in) { return backward(in, 0); },
                     .bound = {.ulp = 4, .relative = 1e-5, .tiny = true},
                     .gradient = {.ulp = 4, .relative = 1e-5, .tiny = true}});
    cases.push_back({.op = "conv2d_filter_gradient",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels}, {.shape = weights}},
                     .build = [backward](const auto& in) { return backward(in, 1); },
                     .bound = {.ulp = 4, .relative = 1e-5, .tiny = true},
                     .gradient = {.ulp = 4, .relative = 1e-5, .tiny = true}});
  }
  return cases;
}

Tensor ones(const Shape& shape, const std::string& labels = "") { return Tensor::full(1, shape, DType::f32, labels); }
using Floats = std::vector<float>;

TEST(Conv2d, does_not_flip_the_kernel) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {1, 1, 4, 1}), w = Tensor::from<float>({1, 10}, {1, 2, 1, 1});
  EXPECT_EQ(conv2d(x, w).to_vector<float>(), (Floats{21, 32, 43}));
}

TEST(Conv2d, same_gives_the_size_over_the_stride_and_pads_more_at_the_end) {
  for (int64_t in = 1; in <= 9; ++in)
    for (int64_t stride = 1; stride <= 4; ++stride)
      for (int64_t kernel = 1; kernel <= 5; ++kernel) {
        const auto y = conv2d(ones({1, in, in, 1}), ones({kernel, kernel, 1, 1}), {.stride = stride, .padding = same});
        EXPECT_EQ(y.shape(), (Shape{1, (in + stride - 1) / stride, (in + stride - 1) / stride, 1}));
      }
  // One element of padding: at the end.
  const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {1, 1, 4, 1}), w = Tensor::from<float>({1, 10, 100}, {1, 3, 1, 1});
  EXPECT_EQ(conv2d(x, w, {.stride = {1, 2}, .padding = same}).to_vector<float>(), (Floats{321, 43}));
}

TEST(Conv2d, adds_a_bias_from_a_tensor_or_a_layer) {
  const Tensor x = ones({1, 2, 2, 1}, "BSSC"), w = ones({1, 1, 1, 2}), bias = Tensor::from<float>({1, -1}, {2});
  const Floats expected{2, 0, 2, 0, 2, 0, 2, 0};
  const Tensor y = conv2d(x, w, bias, {.padding = same});
  EXPECT_EQ(y.to_vector<float>(), expected);
  EXPECT_EQ(y.labels(), "BSSC");
  EXPECT_EQ(conv2d(x, Tree{{"weights", w}, {"bias", bias}}, {.padding = same}).to_vector<float>(), expected);
  EXPECT_EQ(conv2d(x, Tree{{"weights", w}}).to_vector<float>(), Floats(8, 1));
  EXPECT_EQ(conv2d(x, Tree(w)).to_vector<float>(), Floats(8, 1));
}

TEST(Conv2d, elements_outside_of_the_image_are_absent) {
  const float infinity = HUGE_VALF;
  // The infinite weight meets only what lies outside for the first output; times zero it would be NaN.
  const Tensor x = Tensor::from<float>({1, 2}, {1, 1, 2, 1}), w = Tensor::from<float>({infinity, 1, 1}, {1, 3, 1, 1});
  EXPECT_EQ(conv2d(x, w, {.padding = same}).to_vector<float>(), (Floats{3, infinity}));
  const Tensor negative = Tensor::from<float>({-0.0f}, {1, 1, 1, 1});
  EXPECT_FALSE(std::signbit(conv2d(negative, ones({1, 1, 1, 1})).item<float>())) << "no contraction returns -0";
}

TEST(Conv2d, says_what_does_not_fit) {
  const Place place{"train.cpp", 41};
  const Tensor x = ones({2, 8, 8, 3}, "BSSC");
  EXPECT_EQ(error_text([&] { conv2d(x, ones({3, 3, 4, 5}), Conv2dOptions(), place); }),
            "error[RT0155]: conv2d: x has 3 channels, weights expect 4\n"
            "  where:    train.cpp:41\n"
            "  got:      x f32[2,8,8,3] \"BSSC\", weights f32[3,3,4,5]\n"
            "  expected: channels of x = channels of the weights x groups\n"
            "  help:     give the weights the shape [3,3,3,5]");
  EXPECT_EQ(error_text([&] { conv2d(x, ones({3, 3, 1, 4}), {.groups = 3}, place); }),
            "error[RT0154]: conv2d: 3 channels and 4 filters do not make 3 groups\n"
            "  where:    train.cpp:41\n"
            "  got:      x f32[2,8,8,3] \"BSSC\", weights f32[3,3,1,4]\n"
            "  expected: at least one of each, and groups that divide the channels and the filters");
  EXPECT_EQ(error_text([&] { conv2d(x, ones({3, 3, 3, 4}), {.groups = 0}, place); }),
            "error[RT0154]: conv2d: 0 groups are not possible\n"
            "  where:    train.cpp:41\n"
            "  got:      x f32[2,8,8,3] \"BSSC\", weights f32[3,3,3,4]\n"
            "  expected: 1 to 1048576 groups");
  EXPECT_EQ(error_text([&] { conv2d(x, ones({9, 3, 3, 4}), Conv2dOptions(), place); }),
            "error[RT0151]: conv2d: a 9 x 3 window does not fit into a 8 x 8 image\n"
            "  where:    train.cpp:41\n"
            "  got:      f32[2,8,8,3] \"BSSC\"\n"
            "  expected: an image with its padding at least as large as the window with its dilation\n"
            "  help:     add padding: .padding = rt::same, in a job file padding = \"same\"");
  EXPECT_EQ(error_text([&] { conv2d(x, ones({3, 3, 3, 4}), {.stride = 0}, place); }),
            "error[RT0150]: conv2d: stride 0 x 0 is not usable\n"
            "  where:    train.cpp:41\n"
            "  got:      f32[2,8,8,3] \"BSSC\"\n"
            "  expected: whole numbers from 1 to 1073741824");
  EXPECT_EQ(error_text([&] { conv2d(ones({8, 8, 3}), ones({3, 3, 3, 4}), Conv2dOptions(), place); }),
            "error[RT0133]: conv2d: x has 3 axes\n"
            "  where:    train.cpp:41\n"
            "  got:      x f32[8,8,3]\n"
            "  expected: 4 axes [batch,height,width,channels]\n"
            "  help:     reshape x first; of layers, put this one before those that make features, such as "
            "linear, and take data of images");
  EXPECT_EQ(error_text([&] { conv2d(ones({2, 2, 2, 2}, "BTSC"), ones({1, 1, 2, 4}), Conv2dOptions(), place); }),
            "error[RT0153]: conv2d: x has the labels \"BTSC\"\n"
            "  where:    train.cpp:41\n"
            "  got:      x f32[2,2,2,2] \"BTSC\"\n"
            "  expected: \"BSSC\", or no labels");
  EXPECT_EQ(error_text([&] { conv2d(x, ones({1, 1, 3, 4}), ones({3}), Conv2dOptions(), place); }),
            "error[RT0157]: conv2d: the bias does not fit 4 filters\n"
            "  where:    train.cpp:41\n"
            "  got:      bias f32[3]\n"
            "  expected: the shape [4], or one number");
  EXPECT_EQ(error_text([&] { conv2d(x, Tensor::zeros({1, 1, 3, 4}, DType::f64), Conv2dOptions(), place); }),
            "error[RT0132]: conv2d: the arguments have the types f32 and f64\n"
            "  where:    train.cpp:41\n"
            "  got:      f32[2,8,8,3] \"BSSC\" and weights f64[1,1,3,4]\n"
            "  expected: one type\n"
            "  help:     cast(weights, DType::f32)");
}

TEST(Conv2d, gradients_say_what_does_not_fit) {
  const Place place{"train.cpp", 7};
  const Tensor dy = ones({1, 4, 4, 2}), w = ones({3, 3, 3, 2});
  EXPECT_EQ(error_text([&] { conv2d_input_gradient(dy, w, {}, {7, 6}, place); }),
            "error[RT0156]: conv2d_input_gradient: an image of 7 x 6 does not lead to one of 4 x 4\n"
            "  where:    train.cpp:7\n"
            "  got:      dy f32[1,4,4,2], weights f32[3,3,3,2]\n"
            "  expected: dy of 5 x 4");
  EXPECT_EQ(error_text([&] { conv2d_input_gradient(ones({1, 4, 4, 3}), w, {}, {6, 6}, place); }),
            "error[RT0155]: conv2d_input_gradient: dy has 3 channels, weights have 2 filters\n"
            "  where:    train.cpp:7\n"
            "  got:      dy f32[1,4,4,3], weights f32[3,3,3,2]\n"
            "  expected: channels of dy = filters of the weights (their last axis)");
  EXPECT_EQ(error_text([&] { conv2d_filter_gradient(ones({2, 6, 6, 3}), dy, {}, {3, 3}, place); }),
            "error[RT0164]: conv2d_filter_gradient: x has 2 samples, dy has 1\n"
            "  where:    train.cpp:7\n"
            "  got:      x f32[2,6,6,3], dy f32[1,4,4,2]\n"
            "  expected: equal batch sizes");
}

TEST(Conv2d, refuses_other_types_ranks_and_windows) {
  const Tensor x = ones({2, 8, 8, 3}), w = ones({3, 3, 3, 4});
  EXPECT_EQ(error_text([&] { conv2d(Tensor::zeros({2, 8, 8, 3}, DType::u8), w, Conv2dOptions(), {"model.cpp", 7}); }),
            "error[RT0131]: conv2d: x is u8\n"
            "  where:    model.cpp:7\n"
            "  got:      x u8[2,8,8,3]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
  EXPECT_EQ(error_text([&] { conv2d(x, ones({3, 3, 4}), Conv2dOptions(), {"model.cpp", 7}); }),
            "error[RT0133]: conv2d: weights has 3 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      weights f32[3,3,4]\n"
            "  expected: 4 axes [kernel height,kernel width,channels/groups,filters]\n"
            "  help:     reshape weights first");
  EXPECT_EQ(error_text([&] { conv2d(x, w, {.dilation = 0}, {"model.cpp", 7}); }),
            "error[RT0150]: conv2d: dilation 0 x 0 is not usable\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,8,8,3]\n"
            "  expected: whole numbers from 1 to 1073741824");
  EXPECT_EQ(error_text([&] { conv2d(x, w, {.padding = {-1, 0, 0, 0}}, {"model.cpp", 7}); }),
            "error[RT0150]: conv2d: padding (top, left) -1 x 0 is not usable\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,8,8,3]\n"
            "  expected: whole numbers from 0 to 1073741824");
  EXPECT_EQ(error_text([&] { conv2d(x, w, {.padding = {0, 0, 0, -1}}, {"model.cpp", 7}); }),
            "error[RT0150]: conv2d: padding (bottom, right) 0 x -1 is not usable\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,8,8,3]\n"
            "  expected: whole numbers from 0 to 1073741824");
  EXPECT_EQ(error_text([&] { conv2d(x, ones({0, 3, 3, 4}), Conv2dOptions(), {"model.cpp", 7}); }),
            "error[RT0150]: conv2d: the window size 0 x 3 is not usable\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,8,8,3]\n"
            "  expected: whole numbers from 1 to 1073741824");
  EXPECT_EQ(error_text([&] { conv2d_input_gradient(ones({1, 4, 4, 4}), w, {}, {-1, 6}, {"model.cpp", 7}); }),
            "error[RT0150]: conv2d_input_gradient: the image size -1 x 6 is not usable\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[1,4,4,4]\n"
            "  expected: whole numbers from 0 to 1073741824");
}

TEST(Conv2d, gradients_refuse_other_types_ranks_and_groups) {
  const Tensor x = ones({1, 6, 6, 3}), dy = ones({1, 4, 4, 2}), w = ones({3, 3, 3, 2});
  EXPECT_EQ(
      error_text([&] { conv2d_input_gradient(ones({4, 4, 2}), w, {}, {6, 6}, {"model.cpp", 7}); }),
      "error[RT0133]: conv2d_input_gradient: dy has 3 axes\n"
      "  where:    model.cpp:7\n"
      "  got:      dy f32[4,4,2]\n"
      "  expected: 4 axes [batch,height,width,channels]\n"
      "  help:     reshape dy first; of layers, put this one before those that make features, such as linear, and "
      "take data of images");
  EXPECT_EQ(error_text([&] { conv2d_input_gradient(dy, w, {.groups = 3}, {6, 6}, {"model.cpp", 7}); }),
            "error[RT0154]: conv2d_input_gradient: 9 channels and 2 filters do not make 3 groups\n"
            "  where:    model.cpp:7\n"
            "  got:      dy f32[1,4,4,2], weights f32[3,3,3,2]\n"
            "  expected: at least one of each, and groups that divide the channels and the filters");
  EXPECT_EQ(error_text([&] {
              conv2d_filter_gradient(x, Tensor::zeros({1, 4, 4, 2}, DType::f64), {}, {3, 3}, {"model.cpp", 7});
            }),
            "error[RT0132]: conv2d_filter_gradient: the arguments have the types f32 and f64\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[1,6,6,3] and dy f64[1,4,4,2]\n"
            "  expected: one type\n"
            "  help:     cast(dy, DType::f32)");
  EXPECT_EQ(error_text([&] { conv2d_filter_gradient(x, ones({4, 4, 2}), {}, {3, 3}, {"model.cpp", 7}); }),
            "error[RT0133]: conv2d_filter_gradient: dy has 3 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      dy f32[4,4,2]\n"
            "  expected: 4 axes [batch,height,width,filters]\n"
            "  help:     reshape dy first");
  EXPECT_EQ(error_text([&] { conv2d_filter_gradient(x, dy, {.groups = 2}, {3, 3}, {"model.cpp", 7}); }),
            "error[RT0154]: conv2d_filter_gradient: 3 channels and 2 filters do not make 2 groups\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[1,6,6,3], dy f32[1,4,4,2]\n"
            "  expected: at least one of each, and groups that divide the channels and the filters");
  EXPECT_EQ(error_text([&] { conv2d_filter_gradient(x, dy, {}, {2, 3}, {"model.cpp", 7}); }),
            "error[RT0156]: conv2d_filter_gradient: an image of 6 x 6 does not lead to one of 4 x 4\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[1,6,6,3], dy f32[1,4,4,2]\n"
            "  expected: dy of 5 x 4");
}

}  // namespace
}  // namespace retrace
