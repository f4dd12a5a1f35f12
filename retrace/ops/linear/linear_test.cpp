#include "retrace/ops/linear/linear.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_CASES(linear) {
  return {{.op = "matmul",
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

TEST(Linear, says_what_does_not_fit) {
  const Place place{"train.cpp", 5};
  EXPECT_EQ(error_text([&] { linear(ones({2, 3, 3, 2}, "BSSC"), ones({10, 12}), place); }),
            "error[RT0162]: linear: x has 18 features, weights expect 12\n"
            "  where:    train.cpp:5\n"
            "  got:      x f32[2,3,3,2] \"BSSC\", weights f32[10,12]\n"
            "  expected: features of x (all its axes but the first) = last axis of the weights\n"
            "  help:     give the weights the shape [10,18]");
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
