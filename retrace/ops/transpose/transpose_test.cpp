#include "retrace/ops/transpose/transpose.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseFunction by(Shape permutation = {}) {
  return [=](const std::vector<Tensor>& in) { return std::vector<Tensor>{transpose(in[0], permutation)}; };
}

OP_EXAMPLE(transpose, transpose(reshape(Tensor::arange(6), {2, 3})));

OP_CASES(transpose) {
  return {
      {.op = "transpose", .name = "matrix", .inputs = {{.shape = {3, 5}}}, .build = by()},
      {.op = "transpose", .name = "large", .inputs = {{.shape = {77, 130}}}, .build = by({1, 0})},
      {.op = "transpose",
       .name = "pieces",
       .inputs = {{.shape = {300, 257}}},
       .build = by({1, 0}),
       .differentiable = false},
      {.op = "transpose", .name = "empty", .inputs = {{.shape = {0, 3}}}, .build = by()},
      {.op = "transpose", .name = "one", .inputs = {{.shape = {1, 1}}}, .build = by()},
      {.op = "transpose", .name = "row", .inputs = {{.shape = {1, 9}}}, .build = by()},
      {.op = "transpose", .name = "odd", .inputs = {{.shape = {3, 5, 7}}}, .build = by({2, 0, 1})},
      {.op = "transpose", .name = "reversed", .inputs = {{.shape = {2, 3, 4, 5}}}, .build = by({3, 2, 1, 0})},
      {.op = "transpose", .name = "inner_kept", .inputs = {{.shape = {2, 3, 4, 5}}}, .build = by({0, 2, 1, 3})},
      {.op = "transpose", .name = "negative_axes", .inputs = {{.shape = {2, 3, 4}}}, .build = by({-1, 0, 1})},
      {.op = "transpose", .name = "identity", .inputs = {{.shape = {2, 3}}}, .build = by({0, 1})},
      {.op = "transpose",
       .name = "labelled",
       .inputs = {{.shape = {2, 3, 4, 5}, .labels = "BSSC"}},
       .build = by({0, 2, 1, 3})},
      {.op = "transpose",
       .name = "special_values",
       .inputs = {{.shape = {8, 2}, .values = special_values()}},
       .build = by(),
       .differentiable = false},
      {.op = "transpose",
       .name = "integers",
       .inputs = {{.shape = {2, 3}, .type = DType::i32, .values = {1, 2, 3, 4, 5, 6}}},
       .build = by(),
       .expected = {1, 4, 2, 5, 3, 6},
       .differentiable = false},
      {.op = "transpose",
       .name = "u8",
       .inputs = {{.shape = {2, 3}, .type = DType::u8, .values = {1, 2, 3, 4, 5, 6}}},
       .build = by(),
       .expected = {1, 4, 2, 5, 3, 6},
       .differentiable = false},
  };
}

TEST(Transpose, keeps_labels_that_stay_in_order) {
  const auto x = Tensor::zeros({2, 3, 4, 5}, DType::f32, "BSSC");
  EXPECT_EQ(transpose(x, {0, 2, 1, 3}).labels(), "BSSC");
  EXPECT_EQ(transpose(x, {3, 0, 1, 2}).labels(), "");
}

TEST(Transpose, refuses_what_is_no_order) {
  EXPECT_EQ(error_text([] { transpose(Tensor::zeros({2, 3}), {0, 0}, {"model.cpp", 7}); }),
            "error[RT0170]: transpose: [0,0] is not an order of the axes of x\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3]\n"
            "  expected: each of the 2 axes once, counted from 0");
  EXPECT_EQ(error_text([] { transpose(Tensor::zeros({2}), {}, {"model.cpp", 7}); }),
            "error[RT0133]: transpose: x has 1 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2]\n"
            "  expected: 2 axes or more, of which the last two are swapped");
  EXPECT_EQ(error_text([] { transpose(Tensor::zeros({2, 3}), {0, 2}, {"model.cpp", 7}); }),
            "error[RT0134]: transpose: axis 2 does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      a tensor with 2 axes\n"
            "  expected: an axis from -2 to 1");
}

}  // namespace
}  // namespace retrace
