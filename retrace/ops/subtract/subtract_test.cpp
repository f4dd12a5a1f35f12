#include "retrace/ops/subtract/subtract.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(subtract, subtract(Tensor::from<float>({1, 2, 3}, {3}), Tensor::from<float>({10, 20, 30}, {3})));

OP_CASES(subtract) {
  auto cases = pointwise_cases({.op = "subtract", .inputs = {{}, {}}, .build = two(subtract)});
  cases.push_back({.op = "subtract",
                   .name = "integers_wrap",
                   .inputs = {{.shape = {6}, .type = DType::i32, .values = {1, -1, 2147483647.0, -2147483648.0, 0, 7}},
                              {.shape = {6}, .type = DType::i32, .values = {2, -2, -1, 1, 0, -9}}},
                   .build = two(subtract),
                   .expected = {-1, 1, -2147483648.0, 2147483647.0, 0, 16},
                   .differentiable = false});
  return cases;
}

TEST(Subtract, refuses_sizes_that_do_not_fit) {
  const auto a = Tensor::zeros({2, 3}), b = Tensor::zeros({2, 4});
  EXPECT_EQ(error_text([&] { subtract(a, b, {"model.cpp", 7}); }),
            "error[RT0135]: subtract: the sizes of the arguments do not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3] and f32[2,4]\n"
            "  expected: equal sizes, or 1, for each axis (labelled axes by label, others from the last)");
}

TEST(Subtract, refuses_two_types) {
  const auto a = Tensor::zeros({2}), b = Tensor::zeros({2}, DType::i32);
  EXPECT_EQ(error_text([&] { subtract(a, b, {"model.cpp", 7}); }),
            "error[RT0132]: subtract: the arguments have the types f32 and i32\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2] and the other argument i32[2]\n"
            "  expected: one type\n"
            "  help:     cast(the other argument, DType::f32)");
}

TEST(Subtract, refuses_unlabelled_axes_beyond_labelled_ones) {
  const auto a = Tensor::zeros({2, 3}), b = Tensor::zeros({3}, DType::f32, "C");
  EXPECT_EQ(error_text([&] { subtract(a, b, {"model.cpp", 7}); }),
            "error[RT0136]: subtract: an unlabelled argument has more axes than a labelled one\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3] \"C\"\n"
            "  expected: at most 1 axes, as in the labelled argument\n"
            "  help:     give it labels, or remove the labels of the other");
}

TEST(Subtract, refuses_what_holds_nothing) {
  EXPECT_EQ(error_text([] { subtract(Tensor(), Tensor::zeros({2}), {"model.cpp", 7}); }),
            "error[RT0104]: subtract: a tensor that was never given a value is used\n"
            "  where:    model.cpp:7");
}

}  // namespace
}  // namespace retrace
