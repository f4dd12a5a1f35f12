#include "retrace/ops/divide/divide.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(divide, divide(Tensor::from<float>({1, 2, 3}, {3}), Tensor::from<float>({10, 20, 30}, {3})));

OP_CASES(divide) {
  auto cases = pointwise_cases({.op = "divide", .inputs = {{}, {.low = 0.25}}, .build = two(divide)});
  cases.push_back({.op = "divide",
                   .name = "integers_wrap",
                   .inputs = {{.shape = {6}, .type = DType::i32, .values = {7, -7, 2147483647.0, -2147483648.0, 0, 9}},
                              {.shape = {6}, .type = DType::i32, .values = {2, 2, -1, -1, 5, -4}}},
                   .build = two(divide),
                   .expected = {3, -3, -2147483647.0, -2147483648.0, 0, -2},
                   .differentiable = false});
  cases.push_back({.op = "divide",
                   .name = "u8",
                   .inputs = {{.shape = {4}, .type = DType::u8, .values = {255, 7, 0, 9}},
                              {.shape = {4}, .type = DType::u8, .values = {2, 8, 3, 1}}},
                   .build = two(divide),
                   .expected = {127, 0, 0, 9},
                   .differentiable = false});
  return cases;
}

TEST(Divide, refuses_sizes_that_do_not_fit) {
  const auto a = Tensor::zeros({2, 3}), b = Tensor::zeros({2, 4});
  EXPECT_EQ(error_text([&] { divide(a, b, {"model.cpp", 7}); }),
            "error[RT0135]: divide: the sizes of the arguments do not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3] and f32[2,4]\n"
            "  expected: equal sizes, or 1, for each axis (labelled axes by label, others from the last)");
}

TEST(Divide, refuses_two_types) {
  const auto a = Tensor::zeros({2}), b = Tensor::zeros({2}, DType::i32);
  EXPECT_EQ(error_text([&] { divide(a, b, {"model.cpp", 7}); }),
            "error[RT0132]: divide: the arguments have the types f32 and i32\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2] and the other argument i32[2]\n"
            "  expected: one type\n"
            "  help:     cast(the other argument, DType::f32)");
}

TEST(Divide, refuses_an_integer_zero_when_it_is_computed) {
  const auto a = Tensor::from<int32_t>({6, 5}, {2}), b = Tensor::from<int32_t>({2, 0}, {2});
  const auto y = divide(a, b, {"model.cpp", 7});
  EXPECT_EQ(error_text([&] { y.to_vector<int32_t>(); }),
            "error[RT0149]: divide: an integer is divided by zero\n"
            "  where:    model.cpp:7\n"
            "  got:      5 / 0\n"
            "  expected: b without zeros, for integer types\n"
            "  help:     cast to DType::f32 first, or replace the zeros with where(...)");
}

TEST(Divide, refuses_an_unlabelled_argument_with_more_axes) {
  const auto labelled = Tensor::zeros({3}, DType::f32, "C");
  EXPECT_EQ(error_text([&] { divide(labelled, Tensor::zeros({2, 3}), {"model.cpp", 7}); }),
            "error[RT0136]: divide: an unlabelled argument has more axes than a labelled one\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3] \"C\"\n"
            "  expected: at most 1 axes, as in the labelled argument\n"
            "  help:     give it labels, or remove the labels of the other");
}

}  // namespace
}  // namespace retrace
