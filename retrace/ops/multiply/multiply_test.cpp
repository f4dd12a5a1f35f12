#include "retrace/ops/multiply/multiply.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(multiply, multiply(Tensor::from<float>({1, 2, 3}, {3}), Tensor::from<float>({10, 20, 30}, {3})));

OP_CASES(multiply) {
  auto cases = pointwise_cases({.op = "multiply", .inputs = {{}, {}}, .build = two(multiply)});
  cases.push_back(
      {.op = "multiply",
       .name = "integers_wrap",
       .inputs = {{.shape = {6}, .type = DType::i32, .values = {3, -3, 2147483647.0, -2147483648.0, 65536, 0}},
                  {.shape = {6}, .type = DType::i32, .values = {2, 5, 2, -1, 65536, -9}}},
       .build = two(multiply),
       .expected = {6, -15, -2, -2147483648.0, 0, 0},
       .differentiable = false});
  return cases;
}

TEST(Multiply, refuses_sizes_that_do_not_fit) {
  const auto a = Tensor::zeros({2, 3}), b = Tensor::zeros({2, 4});
  EXPECT_EQ(error_text([&] { multiply(a, b, {"model.cpp", 7}); }),
            "error[RT0135]: multiply: the sizes of the arguments do not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3] and f32[2,4]\n"
            "  expected: equal sizes, or 1, for each axis (labelled axes by label, others from the last)");
}

TEST(Multiply, refuses_two_types) {
  const auto a = Tensor::zeros({2}), b = Tensor::zeros({2}, DType::i32);
  EXPECT_EQ(error_text([&] { multiply(a, b, {"model.cpp", 7}); }),
            "error[RT0132]: multiply: the arguments have the types f32 and i32\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2] and the other argument i32[2]\n"
            "  expected: one type\n"
            "  help:     cast(the other argument, DType::f32)");
}

TEST(Multiply, refuses_an_unlabelled_argument_with_more_axes) {
  const auto labelled = Tensor::zeros({3}, DType::f32, "C");
  EXPECT_EQ(error_text([&] { multiply(labelled, Tensor::zeros({2, 3}), {"model.cpp", 7}); }),
            "error[RT0136]: multiply: an unlabelled argument has more axes than a labelled one\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3] \"C\"\n"
            "  expected: at most 1 axes, as in the labelled argument\n"
            "  help:     give it labels, or remove the labels of the other");
}

}  // namespace
}  // namespace retrace
