#include "retrace/ops/linear/linear.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(linear, linear(Tensor::from<float>({1, 2}, {1, 2}), Tensor::from<float>({1, 0, 0, 1, 1, 1}, {3, 2}),
                          Tensor::from<float>({0.5, 0.5, 0.5}, {3})));

OP_CASES(linear) {
  const auto last = [](const char* name, Shape shape, const char* labels) {
    const int64_t features = shape.back();
    return OpCase{.op = "matmul",
                  .name = name,
                  .inputs = {{.shape = shape, .labels = labels}, {.shape = {4, features}}, {.shape = {4}}},
                  .build =
                      [](const auto& in) {
                        return std::vector<Tensor>{linear(in[0], in[1], in[2], {.flatten = false}),
                                                   linear(in[0], in[1], {.flatten = false})};
                      },
                  .bound = {.ulp = 1, .relative = 1e-5}};
  };
  return {last("linear_last_axis", {3, 2, 2, 5}, "BSSC"),
          last("linear_sequence", {2, 7, 9}, "BTC"),
          last("linear_last_axis_unlabelled", {2, 3, 17}, ""),
          last("linear_last_axis_of_two", {6, 5}, "BC"),
          last("linear_one_row", {5}, ""),
          last("linear_no_rows", {0, 3, 5}, "BTC"),
          {.op = "matmul",
           .name = "linear",
           .inputs = {{.shape = {3, 2, 2, 5}, .labels = "BSSC"}, {.shape = {4, 20}}, {.shape = {4}}},
           .build = [](const auto& in) { return std::vector<Tensor>{linear(in[0], in[1], in[2])}; },
           .bound = {.ulp = 1, .relative = 1e-5}}};
}

Tensor ones(const Shape& shape, const std::string& labels = "") { return Tensor::full(1, shape, DType::f32, labels); }

TEST(Linear, flattens_space_then_channels_and_adds_the_bias) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {1, 1, 2, 2}, "BSSC");
  const Tensor w = Tensor::from<float>({1, 10, 100, 1000, 0, 0, 0, 1}, {2, 4}),
               bias = Tensor::from<float>({0.5f, -4}, {2});
  const Tensor y = linear(x, w, bias);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{4321.5f, 0}));
  EXPECT_EQ(y.labels(), "BC");
  EXPECT_EQ(linear(x, Tree{{"weights", w}, {"bias", bias}}).to_vector<float>(), y.to_vector<float>());
  EXPECT_EQ(linear(x, Tree{{"weights", w}}).to_vector<float>(), (std::vector<float>{4321, 4}));
  EXPECT_EQ(linear(ones({2, 4}), w).labels(), "");
}

TEST(Linear, takes_the_last_axis_alone) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}, "BTC");
  const Tensor w = Tensor::from<float>({1, 10, 100, 1000, 1, -1}, {3, 2}),
               bias = Tensor::from<float>({0.5f, 0, 2}, {3});
  const Tensor y = linear(x, w, bias, {.flatten = false});
  EXPECT_EQ(y.shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(y.labels(), "BTC");
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{21.5f, 2100, 1, 43.5f, 4300, 1, 65.5f, 6500, 1, 87.5f, 8700, 1}));
  EXPECT_EQ(linear(x, Tree{{"weights", w}, {"bias", bias}}, {.flatten = false}).to_vector<float>(),
            y.to_vector<float>());
  EXPECT_EQ(linear(ones({2}), w, {.flatten = false}).to_vector<float>(), (std::vector<float>{11, 1100, 0}));
  // The rows of a batch of features are the same either way.
  EXPECT_EQ(linear(reshape(x, {4, 2}, "BC"), w, bias).to_vector<float>(), y.to_vector<float>());
  EXPECT_EQ(linear(ones({2, 2}, "BC"), w, {.flatten = false}).labels(), "BC");
}

TEST(Linear, says_what_does_not_fit) {
  const Place place{"train.cpp", 5};
  EXPECT_EQ(error_text([&] { linear(ones({2, 3, 3, 2}, "BSSC"), ones({10, 12}), place); }),
            "error[RT0162]: linear: x has 18 features, weights expect 12\n"
            "  where:    train.cpp:5\n"
            "  got:      x f32[2,3,3,2] \"BSSC\", weights f32[10,12]\n"
            "  expected: features of x (all its axes but the first) = last axis of the weights\n"
            "  help:     give the weights the shape [10,18]");
  EXPECT_EQ(error_text([&] { linear(ones({2, 3, 5}, "BTC"), ones({10, 5}), place); }),
            "error[RT0162]: linear: x has 15 features, weights expect 5\n"
            "  where:    train.cpp:5\n"
            "  got:      x f32[2,3,5] \"BTC\", weights f32[10,5]\n"
            "  expected: features of x (all its axes but the first) = last axis of the weights\n"
            "  help:     give the weights the shape [10,15], or give {.flatten = false} for its last axis alone");
  EXPECT_EQ(error_text([&] { linear(ones({2, 3, 5}), ones({10, 15}), {.flatten = false}, place); }),
            "error[RT0162]: linear: x has 5 features, weights expect 15\n"
            "  where:    train.cpp:5\n"
            "  got:      x f32[2,3,5], weights f32[10,15]\n"
            "  expected: features of x (its last axis) = last axis of the weights\n"
            "  help:     give the weights the shape [10,5]");
  EXPECT_EQ(error_text([&] { linear(ones({}), ones({10, 15}), {.flatten = false}, place); }),
            "error[RT0161]: linear: x has 0 axes, weights have 2\n"
            "  where:    train.cpp:5\n"
            "  got:      x f32[], weights f32[10,15]\n"
            "  expected: x with at least one axis, weights [out,in]");
  EXPECT_EQ(error_text([&] { linear(ones({12}), ones({10, 12}), place); }),
            "error[RT0161]: linear: x has 1 axes, weights have 2\n"
            "  where:    train.cpp:5\n"
            "  got:      x f32[12], weights f32[10,12]\n"
            "  expected: x with a batch axis and at least one more, weights [out,in]");
  EXPECT_EQ(error_text([&] { linear(ones({2, 12}), ones({10, 12}), ones({12}), place); }),
            "error[RT0163]: linear: the bias does not fit 10 outputs\n"
            "  where:    train.cpp:5\n"
            "  got:      bias f32[12]\n"
            "  expected: the shape [10], or one number");
}

}  // namespace
}  // namespace retrace
