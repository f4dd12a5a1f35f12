#include "retrace/ops/average_pool2d/average_pool2d.h"

#include <gtest/gtest.h>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

std::vector<Tensor> spread(const std::vector<Tensor>& in, Pair pool, AveragePool2dOptions options) {
  const Tensor y = average_pool2d(in[0], pool, options);
  return {gradients(sum(y * y), std::vector<Tensor>{in[0]})[0]};
}

OP_EXAMPLE(average_pool2d, average_pool2d(reshape(Tensor::arange(16), {1, 4, 4, 1}), 2));
OP_EXAMPLE(global_average_pool2d, global_average_pool2d(reshape(Tensor::arange(16), {1, 4, 4, 1})));

OP_CASES(average_pool2d) {
  struct Sizes {
    const char* name;
    Shape x;
    Pair pool;
    AveragePool2dOptions options = {};
    std::string labels = "";
  };
  const std::vector<Sizes> all = {
      {"global", {2, 8, 8, 20}, 8, {}, "BSSC"},
      {"halves", {2, 4, 6, 16}, 2, {.stride = 2}},
      {"halves_of_two_pixels", {2, 4, 10, 8}, 2, {.stride = 2}},
      {"tiles", {2, 6, 4, 32}, {3, 2}, {.stride = {3, 2}, .count_padding = true}},
      {"overlapping", {2, 5, 4, 3}, {3, 2}, {.stride = 1}},
      {"same", {1, 5, 5, 8}, 2, {.stride = 2, .padding = same}},
      {"same_counting_padding", {1, 5, 5, 8}, 3, {.stride = 2, .padding = same, .count_padding = true}},
      {"four_paddings", {1, 4, 3, 5}, 3, {.stride = {1, 2}, .padding = {0, 2, 1, 2}}},
      {"odd_channels", {1, 4, 4, 37}, 3, {.stride = 1, .padding = same}},
      {"one_pixel", {1, 1, 1, 1}, 1},
      {"moves_by_its_size", {2, 7, 5, 8}, {3, 2}},
      {"empty_batch", {0, 4, 4, 2}, 2}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, pool, options, labels] : all) {
    cases.push_back({.op = "average_pool2d",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [pool = pool, options = options](
                                  const auto& in) { return std::vector<Tensor>{average_pool2d(in[0], pool, options)}; },
                     .bound = {.ulp = 1, .relative = 4e-6}});
    cases.push_back({.op = "average_pool2d_gradient",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [pool = pool, options = options](const auto& in) { return spread(in, pool, options); },
                     .bound = {.ulp = 1, .relative = 4e-6}});
  }
  return cases;
}

using Floats = std::vector<float>;

// With a channel more the same windows take another loop.
TEST(AveragePool2d, every_loop_adds_alike) {
  std::vector<Floats> y(2), dx(2);
  for (int64_t channels : {8, 9}) {
    Floats values;
    for (int64_t pixel = 0; pixel < 4 * 10; ++pixel)
      for (int64_t c = 0; c < channels; ++c) values.push_back(1.0f / static_cast<float>(3 + pixel + c * 7));
    const Tensor x = Tensor::from(values, {1, 4, 10, channels});
    const Tensor made = average_pool2d(x, 2, {.stride = 2});
    const Tensor gradient = gradients(sum(made * made), std::vector<Tensor>{x})[0];
    const auto keep = [&](const Tensor& tensor, Floats& to) {
      const Floats all = tensor.to_vector<float>();
      for (size_t i = 0; i < all.size(); ++i)
        if (static_cast<int64_t>(i) % channels < 8) to.push_back(all[i]);
    };
    keep(made, y[static_cast<size_t>(channels - 8)]);
    keep(gradient, dx[static_cast<size_t>(channels - 8)]);
  }
  EXPECT_EQ(y[0], y[1]);
  EXPECT_EQ(dx[0], dx[1]);
}

TEST(AveragePool2d, divides_by_the_present_elements_or_by_the_window) {
  const Tensor x = Tensor::from<float>({2, 4, 6}, {1, 1, 3, 1});
  EXPECT_EQ(average_pool2d(x, {1, 3}, {.stride = 1, .padding = same}).to_vector<float>(), (Floats{3, 4, 5}));
  EXPECT_EQ(average_pool2d(x, {1, 3}, {.stride = 1, .padding = same, .count_padding = true}).to_vector<float>(),
            (Floats{2, 4, 10.0f / 3}));
  EXPECT_EQ(average_pool2d(x, {1, 2}).to_vector<float>(), (Floats{3})) << "the stride is the window";
}

TEST(AveragePool2d, global_is_the_whole_image) {
  const Tensor x = Tensor::from<float>({1, 10, 2, 20, 3, 30, 6, 60}, {1, 2, 2, 2}, "BSSC");
  const Tensor y = global_average_pool2d(x);
  EXPECT_EQ(y.to_vector<float>(), (Floats{3, 30}));
  EXPECT_EQ(y.spec().text(), "f32[1,1,1,2] \"BSSC\"");
}

TEST(AveragePool2d, says_what_does_not_fit) {
  const Place place{"train.cpp", 2};
  EXPECT_EQ(error_text([&] { average_pool2d(Tensor::zeros({1, 4, 4, 1}), 3, {.padding = 3}, place); }),
            "error[RT0152]: average_pool2d: a window would lie outside of the image\n"
            "  where:    train.cpp:2\n"
            "  got:      padding [3,3,3,3], window 3 x 3\n"
            "  expected: padding smaller than the window on each side");
  EXPECT_EQ(error_text([&] { global_average_pool2d(Tensor::zeros({4, 4, 1}), place); }),
            "error[RT0133]: average_pool2d: x has 3 axes\n"
            "  where:    train.cpp:2\n"
            "  got:      x f32[4,4,1]\n"
            "  expected: 4 axes [batch,height,width,channels]\n"
            "  help:     reshape x first; of layers, put this one before those that make features, such as "
            "linear, and take data of images");
}

TEST(AveragePool2d, refuses_other_types_windows_and_labels) {
  EXPECT_EQ(error_text([&] { average_pool2d(Tensor::zeros({1, 2, 2, 1}, DType::u8), 2, {}, {"model.cpp", 7}); }),
            "error[RT0131]: average_pool2d: x is u8\n"
            "  where:    model.cpp:7\n"
            "  got:      x u8[1,2,2,1]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
  EXPECT_EQ(error_text([&] { average_pool2d(Tensor::zeros({1, 2, 2, 1}), 2, {.stride = 0}, {"model.cpp", 7}); }),
            "error[RT0150]: average_pool2d: stride 0 x 0 is not usable\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[1,2,2,1]\n"
            "  expected: whole numbers from 1 to 1073741824");
  EXPECT_EQ(error_text([&] { average_pool2d(Tensor::zeros({1, 1, 2, 1}), 2, {}, {"model.cpp", 7}); }),
            "error[RT0151]: average_pool2d: a 2 x 2 window does not fit into a 1 x 2 image\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[1,1,2,1]\n"
            "  expected: an image with its padding at least as large as the window with its dilation\n"
            "  help:     add padding: .padding = rt::same, in a job file padding = \"same\"");
  EXPECT_EQ(
      error_text([&] { average_pool2d(Tensor::zeros({1, 2, 2, 1}, DType::f32, "BTSC"), 2, {}, {"model.cpp", 7}); }),
      "error[RT0153]: average_pool2d: x has the labels \"BTSC\"\n"
      "  where:    model.cpp:7\n"
      "  got:      x f32[1,2,2,1] \"BTSC\"\n"
      "  expected: \"BSSC\", or no labels");
  const Attributes window{{"pool", Shape{2, 2}},
                          {"stride", Shape{1, 1}},
                          {"padding", Shape{0, 0, 0, 0}},
                          {"count_padding", int64_t{0}},
                          {"size", Shape{4, 4}}};
  EXPECT_EQ(infer_error("average_pool2d_gradient", window, {{DType::f32, {1, 2, 2, 1}, {}, {}}}),
            "error[RT0156]: average_pool2d_gradient: an image of 4 x 4 does not lead to one of 2 x 2\n"
            "  where:    model.cpp:7\n"
            "  got:      dy f32[1,2,2,1]\n"
            "  expected: dy of 3 x 3");
  EXPECT_EQ(infer_error("average_pool2d_gradient", window, {{DType::i32, {1, 3, 3, 1}, {}, {}}}),
            "error[RT0131]: average_pool2d_gradient: dy is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      dy i32[1,3,3,1]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(dy, DType::f32)");
}

}  // namespace
}  // namespace retrace
