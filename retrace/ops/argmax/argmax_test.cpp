#include "retrace/ops/argmax/argmax.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/reduce_cases.h"

namespace retrace {
namespace {

constexpr double kNan = __builtin_nan("");

std::vector<Tensor> indices(const Tensor& x, const Reduced& how) { return {argmax(x, how.axes, {.keep = how.keep})}; }

OpCase by_hand(const char* name, DType type, Shape shape, Shape axes, std::vector<double> values,
               std::vector<double> expected) {
  return {.op = "argmax",
          .name = name,
          .inputs = {{.shape = shape, .type = type, .values = values}},
          .build = [axes](const std::vector<Tensor>& in) { return indices(in[0], {.axes = axes}); },
          .expected = expected,
          .differentiable = false};
}

OP_EXAMPLE(argmax, argmax(Tensor::from<float>({1, 5, 2, 7, 0, 3}, {2, 3}), 1));
OP_EXAMPLE(argmin, argmin(Tensor::from<float>({1, 5, 2, 7, 0, 3}, {2, 3}), 1));

OP_CASES(argmax) {
  auto cases =
      reduction_cases({.op = "argmax", .inputs = {{}}, .differentiable = false, .no_gradient = "an index is a step"},
                      indices, {.empty = false});
  cases.push_back(by_hand("first_of_equals", DType::f32, {2, 3}, {1}, {1, 4, 4, -1, -2, -1}, {1, 0}));
  cases.push_back(by_hand("first_nan", DType::f32, {4}, {}, {1, kNan, 7, kNan}, {1}));
  cases.push_back(by_hand("over_two_axes", DType::f32, {2, 2, 2}, {0, 2}, {1, 2, 3, 4, 9, 5, 0, 8}, {2, 3}));
  cases.push_back(by_hand("bytes", DType::u8, {3}, {}, {7, 200, 9}, {1}));
  cases.push_back(by_hand("integers", DType::i32, {3}, {}, {-7, -200, -9}, {0}));
  return cases;
}

TEST(Argmin, IsTheIndexOfWhatMinTakes) {
  const auto index = [](const Tensor& x, const Axes& axes) { return argmin(x, axes).to_vector<int32_t>(); };
  EXPECT_EQ(index(Tensor::from<float>({1, 4, -4, -4, 2, 1}, {2, 3}), 1), (std::vector<int32_t>{2, 0}));
  EXPECT_EQ(index(Tensor::from<float>({1, -4, 3, -5}, {2, 2}), {}), (std::vector<int32_t>{3}));
  EXPECT_EQ(index(Tensor::from<double>({1, kNan, -7, kNan}, {4}), 0), (std::vector<int32_t>{1}));
  EXPECT_EQ(index(Tensor::from<int32_t>({0, INT32_MAX, INT32_MIN}, {3}), 0), (std::vector<int32_t>{2}));
  EXPECT_EQ(index(Tensor::from<uint8_t>({7, 0, 9}, {3}), -1), (std::vector<int32_t>{1}));
  EXPECT_EQ(index(Tensor::from<bool>({true, false}, {2}), 0), (std::vector<int32_t>{1}));
  EXPECT_EQ(error_text([] { argmin(Tensor::zeros({2, 0}), 1, {}, {"model.cpp", 7}); }),
            "error[RT0138]: argmin: there is no smallest of no elements\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,0]\n"
            "  expected: at least one element along the reduced axes");
  EXPECT_EQ(argmin(Tensor::zeros({2, 3}, DType::f32, "BC"), "C", {.keep = true}).spec().text(), "i32[2,1] \"BC\"");
}

TEST(Argmax, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_text([&] { argmax(Tensor::zeros({3, 0}), 1, {}, {"model.cpp", 7}); }),
            "error[RT0138]: argmax: there is no largest of no elements\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3,0]\n"
            "  expected: at least one element along the reduced axes");
  EXPECT_EQ(
      infer_error("argmax", {{"axes", Shape{0}}, {"keep", int64_t{0}}}, {{DType::u8, {int64_t{1} << 31}, {}, {}}}),
      "error[RT0144]: argmax: 2147483648 elements are too many to number\n"
      "  where:    model.cpp:7\n"
      "  got:      u8[2147483648]\n"
      "  expected: fewer than 2^31");
  expect_axes_are_checked("argmax");
}

}  // namespace
}  // namespace retrace
