#include "retrace/ops/add/add.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(add, add(Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}), Tensor::from<float>({10, 20, 30}, {3})));

OP_CASES(add) {
  auto cases = pointwise_cases({.op = "add", .inputs = {{}, {}}, .build = two(add)});
  cases.push_back({.op = "add",
                   .name = "integers_wrap",
                   .inputs = {{.shape = {6}, .type = DType::i32, .values = {1, -1, 2147483647.0, -2147483648.0, 0, 7}},
                              {.shape = {6}, .type = DType::i32, .values = {2, -2, 1, -1, 0, -9}}},
                   .build = two(add),
                   .expected = {3, -3, -2147483648.0, 2147483647.0, 0, -2},
                   .differentiable = false});
  return cases;
}

TEST(Add, refuses_sizes_that_do_not_fit) {
  const auto a = Tensor::zeros({2, 3}), b = Tensor::zeros({2, 4});
  EXPECT_EQ(error_text([&] { add(a, b, {"model.cpp", 7}); }),
            "error[RT0135]: add: the sizes of the arguments do not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3] and f32[2,4]\n"
            "  expected: equal sizes, or 1, for each axis (labelled axes by label, others from the last)");
}

TEST(Add, refuses_two_types) {
  const auto a = Tensor::zeros({2}), b = Tensor::zeros({2}, DType::i32);
  EXPECT_EQ(error_text([&] { add(a, b, {"model.cpp", 7}); }),
            "error[RT0132]: add: the arguments have the types f32 and i32\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2] and the other argument i32[2]\n"
            "  expected: one type\n"
            "  help:     cast(the other argument, DType::f32)");
}

TEST(Add, refuses_an_unlabelled_argument_with_more_axes) {
  const auto labelled = Tensor::zeros({3}, DType::f32, "C");
  EXPECT_EQ(error_text([&] { add(labelled, Tensor::zeros({2, 3}), {"model.cpp", 7}); }),
            "error[RT0136]: add: an unlabelled argument has more axes than a labelled one\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3] \"C\"\n"
            "  expected: at most 1 axes, as in the labelled argument\n"
            "  help:     give it labels, or remove the labels of the other");
}

}  // namespace
}  // namespace retrace
