#include "retrace/ops/max_pool2d/max_pool2d.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseFunction pooling(Pair pool, MaxPool2dOptions options) {
  return [=](const std::vector<Tensor>& in) { return std::vector<Tensor>{max_pool2d(in[0], pool, options)}; };
}

// The maximum's gradient at x times v, and the gradient of that for v: the ops that fix the index.
std::vector<Tensor> spread(const std::vector<Tensor>& in, Pair pool, MaxPool2dOptions options) {
  const Tensor y = max_pool2d(in[0], pool, options);
  return {gradients(sum(y * in[1]), std::vector<Tensor>{in[0]})[0]};
}
std::vector<Tensor> picked(const std::vector<Tensor>& in, Pair pool, MaxPool2dOptions options) {
  const Tensor dx = spread(in, pool, options)[0];
  return {gradients(sum(dx * dx), std::vector<Tensor>{in[1]})[0]};
}

OP_EXAMPLE(max_pool2d, max_pool2d(reshape(Tensor::arange(16), {1, 4, 4, 1}), 2));
OP_EXAMPLE(global_max_pool2d, global_max_pool2d(reshape(Tensor::arange(16), {1, 4, 4, 1})));

OP_CASES(max_pool2d) {
  struct Sizes {
    const char* name;
    Shape x;
    Pair pool;
    MaxPool2dOptions options = {};
    std::string labels = "";
  };
  const std::vector<Sizes> all = {{"halves", {2, 4, 6, 16}, 2, {.stride = 2}, "BSSC"},
                                  {"halves_of_two_pixels", {2, 4, 10, 8}, 2, {.stride = 2}},
                                  {"tiles", {2, 6, 4, 32}, {3, 2}, {.stride = {3, 2}}},
                                  {"tiles_of_two_pixels", {1, 2, 9, 8}, {1, 3}, {.stride = {1, 3}}},
                                  {"overlapping", {2, 5, 4, 3}, {3, 2}, {.stride = 1}},
                                  {"same", {1, 5, 5, 8}, 2, {.stride = 2, .padding = same}},
                                  {"four_paddings", {1, 4, 3, 5}, 3, {.stride = {1, 2}, .padding = {0, 2, 1, 2}}},
                                  {"odd_channels", {1, 4, 4, 37}, 3, {.stride = 1, .padding = same}},
                                  {"large_window", {1, 18, 17, 2}, 17, {.stride = 1}},
                                  {"one_pixel", {1, 1, 1, 1}, 1},
                                  {"moves_by_its_size", {2, 7, 5, 8}, {3, 2}},
                                  {"empty_batch", {0, 4, 4, 2}, 2}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, pool, options, labels] : all) {
    const Shape y = max_pool2d(Tensor::zeros(x), pool, options).shape();
    const std::vector<CaseInput> inputs{{.shape = x, .labels = labels, .fixed = true}, {.shape = y, .labels = labels}};
    cases.push_back({.op = "max_pool2d",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = pooling(pool, options)});
    cases.push_back({.op = "max_pool2d_gradient",
                     .name = name,
                     .inputs = inputs,
                     .build = [pool = pool, options = options](const auto& in) { return spread(in, pool, options); },
                     .bound = {.ulp = 1, .relative = 1e-6}});
    cases.push_back({.op = "max_pool2d_gather",
                     .name = name,
                     .inputs = inputs,
                     .build = [pool = pool, options = options](const auto& in) { return picked(in, pool, options); },
                     .bound = {.ulp = 1, .relative = 1e-6}});
  }
  return cases;
}

using Floats = std::vector<float>;
const float kNaN = std::nanf("");
const float kHuge = HUGE_VALF;

Tensor row(const Floats& values) { return Tensor::from(values, {1, 1, static_cast<int64_t>(values.size()), 1}); }

Floats gradient_of(const Tensor& x, Pair pool, const MaxPool2dOptions& options = {}) {
  return gradients(sum(max_pool2d(x, pool, options)), std::vector<Tensor>{x})[0].to_vector<float>();
}

TEST(MaxPool2d, the_first_maximum_wins) {
  EXPECT_EQ(max_pool2d(row({1, 3, 3, 2}), {1, 2}, {.stride = 1}).to_vector<float>(), (Floats{3, 3, 3}));
  EXPECT_EQ(gradient_of(row({1, 3, 3, 2}), {1, 4}), (Floats{0, 1, 0, 0}));
  EXPECT_EQ(gradient_of(row({0, 0, 0}), {1, 3}), (Floats{1, 0, 0}));
  EXPECT_EQ(gradient_of(row({1, 3, 2}), {1, 2}, {.stride = 1}), (Floats{0, 2, 0})) << "two windows";
  EXPECT_TRUE(std::signbit(max_pool2d(row({-0.0f, 0.0f}), {1, 2}).item<float>())) << "equal: the first";
}

TEST(MaxPool2d, moves_by_its_window_unless_told) {
  EXPECT_EQ(max_pool2d(row({1, 3, 4, 2, 9}), {1, 2}).to_vector<float>(), (Floats{3, 4}));
  EXPECT_EQ(max_pool2d(Tensor::zeros({1, 28, 28, 3}), 2).shape(), (Shape{1, 14, 14, 3}));
  EXPECT_EQ(max_pool2d(Tensor::zeros({1, 28, 28, 3}), {7, 2}).shape(), (Shape{1, 4, 14, 3}));
  EXPECT_EQ(max_pool2d(Tensor::zeros({1, 5, 5, 3}), 2, {.padding = same}).shape(), (Shape{1, 3, 3, 3}));
}

TEST(MaxPool2d, the_first_nan_wins) {
  EXPECT_TRUE(std::isnan(max_pool2d(row({kHuge, kNaN, 1}), {1, 3}).item<float>()));
  EXPECT_EQ(gradient_of(row({5, kNaN, 9, kNaN}), {1, 4}), (Floats{0, 1, 0, 0}));
}

TEST(MaxPool2d, absent_elements_never_win) {
  const MaxPool2dOptions padded{.stride = 1, .padding = {0, 1}};
  EXPECT_EQ(max_pool2d(row({-kHuge, -5}), {1, 3}, padded).to_vector<float>(), (Floats{-5, -5}));
  EXPECT_EQ(max_pool2d(row({-kHuge}), {1, 3}, {.padding = {0, 0, 1, 1}}).to_vector<float>(), (Floats{-kHuge}));
  EXPECT_EQ(gradient_of(row({-kHuge}), {1, 3}, {.padding = {0, 0, 1, 1}}), (Floats{1}));
}

// With a channel more the same windows take another loop.
TEST(MaxPool2d, every_loop_chooses_alike) {
  const Floats some{0.0f, -0.0f, 1, 1, kNaN, kHuge, -kHuge, 2};
  const auto image = [&](Shape shape, int64_t channels, int64_t shift) {
    Floats values;
    for (int64_t pixel = 0; pixel < shape.count() / shape[3]; ++pixel)
      for (int64_t c = 0; c < channels; ++c)
        values.push_back(some[static_cast<size_t>((pixel * pixel * 5 + pixel / 7 + c * 3 + shift) % 8)]);
    return Tensor::from(values, {shape[0], shape[1], shape[2], channels});
  };
  const auto bits = [](const Tensor& tensor) {
    std::vector<uint32_t> all;
    const Floats values = tensor.to_vector<float>();
    for (size_t i = 0; i < values.size(); ++i)
      if (static_cast<int64_t>(i) % tensor.shape()[3] < tensor.shape()[3] / 8 * 8)
        all.push_back(std::isnan(values[i]) ? 0x7fc00000u : std::bit_cast<uint32_t>(values[i]));
    return all;
  };
  for (int64_t channels : {8, 16})
    for (Pair pool : {Pair(2), Pair(1, 3), Pair(3, 2)}) {
      const MaxPool2dOptions options{.stride = pool};
      std::vector<uint32_t> y[2], dx[2];
      for (int64_t more : {0, 1}) {
        const Tensor x = image({3, 6, 18, channels}, channels + more, 0);
        const Tensor made = max_pool2d(x, pool, options);
        const Tensor dy = image(made.shape(), channels + more, 1);
        y[more] = bits(made);
        dx[more] = bits(gradients(sum(made * dy), std::vector<Tensor>{x})[0]);
      }
      EXPECT_EQ(y[0], y[1]) << channels;
      EXPECT_EQ(dx[0], dx[1]) << channels;
    }
}

TEST(MaxPool2d, says_what_does_not_fit) {
  const Place place{"train.cpp", 2};
  EXPECT_EQ(error_text([&] { max_pool2d(row({1, 2}), {1, 2}, {.padding = 2}, place); }),
            "error[RT0152]: max_pool2d: a window would lie outside of the image\n"
            "  where:    train.cpp:2\n"
            "  got:      padding [2,2,2,2], window 1 x 2\n"
            "  expected: padding smaller than the window on each side");
  EXPECT_EQ(error_text([&] { max_pool2d(row({1, 2}), 2, {}, place); }),
            "error[RT0151]: max_pool2d: a 2 x 2 window does not fit into a 1 x 2 image\n"
            "  where:    train.cpp:2\n"
            "  got:      f32[1,1,2,1]\n"
            "  expected: an image with its padding at least as large as the window with its dilation\n"
            "  help:     add padding: .padding = rt::same, in a job file padding = \"same\"");
  EXPECT_EQ(error_text([&] { max_pool2d(Tensor::zeros({1, 2, 2, 1}, DType::u8), 2, {}, place); }),
            "error[RT0131]: max_pool2d: x is u8\n"
            "  where:    train.cpp:2\n"
            "  got:      x u8[1,2,2,1]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
}

TEST(MaxPool2d, refuses_other_ranks_strides_and_labels) {
  EXPECT_EQ(error_text([&] { max_pool2d(Tensor::zeros({2, 2, 1}), 2, {}, {"model.cpp", 7}); }),
            "error[RT0133]: max_pool2d: x has 3 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,2,1]\n"
            "  expected: 4 axes [batch,height,width,channels]\n"
            "  help:     reshape x first; of layers, put this one before those that make features, such as "
            "linear, and take data of images");
  EXPECT_EQ(error_text([&] { max_pool2d(Tensor::zeros({1, 2, 2, 1}), 2, {.stride = 0}, {"model.cpp", 7}); }),
            "error[RT0150]: max_pool2d: stride 0 x 0 is not usable\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[1,2,2,1]\n"
            "  expected: whole numbers from 1 to 1073741824");
  EXPECT_EQ(error_text([&] { max_pool2d(Tensor::zeros({1, 2, 2, 1}, DType::f32, "BTSC"), 2, {}, {"model.cpp", 7}); }),
            "error[RT0153]: max_pool2d: x has the labels \"BTSC\"\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[1,2,2,1] \"BTSC\"\n"
            "  expected: \"BSSC\", or no labels");
}

TEST(MaxPool2d, gradients_refuse_what_belongs_to_another_window) {
  const Attributes window{
      {"pool", Shape{2, 2}}, {"stride", Shape{1, 1}}, {"padding", Shape{0, 0, 0, 0}}, {"size", Shape{4, 4}}};
  const TensorSpec dy{DType::f32, {1, 3, 3, 1}, {}, {}}, x{DType::f32, {1, 4, 4, 1}, {}, {}};
  const TensorSpec index{DType::u8, {1, 3, 3, 1}, {}, {}}, other{DType::u8, {1, 2, 2, 1}, {}, {}};
  EXPECT_EQ(infer_error("max_pool2d_gradient", window, {dy, other}),
            "error[RT0159]: max_pool2d_gradient: the index does not belong to this window\n"
            "  where:    model.cpp:7\n"
            "  got:      index u8[1,2,2,1]\n"
            "  expected: the shape [1,3,3,1]");
  EXPECT_EQ(infer_error("max_pool2d_gather", window, {x, other}),
            "error[RT0159]: max_pool2d_gather: the index does not belong to this window\n"
            "  where:    model.cpp:7\n"
            "  got:      index u8[1,2,2,1]\n"
            "  expected: the shape [1,3,3,1]");
  EXPECT_EQ(infer_error("max_pool2d_gradient", window, {dy, dy}),
            "error[RT0131]: max_pool2d_gradient: index is f32\n"
            "  where:    model.cpp:7\n"
            "  got:      index f32[1,3,3,1]\n"
            "  expected: u8\n"
            "  help:     cast(index, DType::u8)");
  EXPECT_EQ(infer_error(
                "max_pool2d_gradient",
                {{"pool", Shape{3, 3}}, {"stride", Shape{1, 1}}, {"padding", Shape{0, 0, 0, 0}}, {"size", Shape{4, 4}}},
                {dy, index}),
            "error[RT0156]: max_pool2d_gradient: an image of 4 x 4 does not lead to one of 3 x 3\n"
            "  where:    model.cpp:7\n"
            "  got:      dy f32[1,3,3,1]\n"
            "  expected: dy of 2 x 2");
}

}  // namespace
}  // namespace retrace
