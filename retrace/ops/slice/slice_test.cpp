#include "retrace/ops/slice/slice.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseFunction cut(const SliceOptions& options) {
  return [=](const std::vector<Tensor>& in) { return std::vector<Tensor>{slice(in[0], options)}; };
}
CaseFunction placed(Shape shape, const PadOptions& options = {}) {
  return [=](const std::vector<Tensor>& in) { return std::vector<Tensor>{pad(in[0], shape, options)}; };
}
const CaseInput kCount24 = {
    .shape = {4, 6}, .type = DType::i32, .values = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                                    12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}};

OP_EXAMPLE(slice, slice(reshape(Tensor::arange(6), {2, 3}), 1, {.begin = 1}));
OP_EXAMPLE(select, select(reshape(Tensor::arange(6), {2, 3}), 0, 1));

OP_CASES(slice) {
  return {
      {.op = "slice", .name = "rank_0", .inputs = {{}}, .build = cut({})},
      {.op = "slice", .name = "whole", .inputs = {{.shape = {3, 5}}}, .build = cut({})},
      {.op = "slice",
       .name = "inner",
       .inputs = {{.shape = {4, 6, 5}}},
       .build = cut({.begin = {1, 2}, .end = {3, 5}})},
      {.op = "slice",
       .name = "labelled",
       .inputs = {{.shape = {4, 6, 5, 2}, .labels = "BSSC"}},
       .build = cut({.begin = {1}, .end = {3}})},
      {.op = "slice",
       .name = "stepped",
       .inputs = {{.shape = {7, 9}}},
       .build = cut({.begin = {1, 0}, .step = {2, 3}})},
      {.op = "slice",
       .name = "long_step",
       .inputs = {{.shape = {7, 9}}},
       .build = cut({.begin = {1}, .step = {100, 2}})},
      {.op = "slice",
       .name = "fours",
       .inputs = {{.shape = {3, 5, 12}}},
       .build = cut({.begin = {0, 1, 4}, .end = {3, 4, 12}, .step = {2}})},
      {.op = "slice", .name = "nothing", .inputs = {{.shape = {4, 6}}}, .build = cut({.begin = {4}})},
      {.op = "slice", .name = "of_empty", .inputs = {{.shape = {0, 6}}}, .build = cut({.begin = {0, 1}})},
      {.op = "slice",
       .name = "special_values",
       .inputs = {{.shape = {16}, .values = special_values()}},
       .build = cut({.begin = {1}}),
       .differentiable = false},
      {.op = "slice",
       .name = "exact",
       .inputs = {kCount24},
       .build = cut({.begin = {1, -5}, .end = {4, -1}, .step = {2, 3}}),
       .expected = {7, 10, 19, 22},
       .differentiable = false},
      {.op = "pad", .name = "rank_0", .inputs = {{}}, .build = placed({})},
      {.op = "pad", .name = "margin", .inputs = {{.shape = {3, 5}}}, .build = placed({6, 9}, {.begin = {1, 2}})},
      {.op = "pad",
       .name = "stepped",
       .inputs = {{.shape = {3, 5}}},
       .build = placed({8, 12}, {.begin = {1}, .step = {3, 2}})},
      {.op = "pad", .name = "empty", .inputs = {{.shape = {0, 3}}}, .build = placed({2, 3})},
      {.op = "pad",
       .name = "fours",
       .inputs = {{.shape = {2, 3, 8}}},
       .build = placed({3, 8, 16}, {.begin = {1, 2, 4}, .step = {1, 2}})},
      {.op = "pad",
       .name = "labelled",
       .inputs = {{.shape = {2, 3, 2}, .labels = "BSC"}},
       .build = placed({2, 5, 2}, {.begin = {0, 1}})},
      {.op = "pad",
       .name = "exact",
       .inputs = {{.shape = {2, 2}, .type = DType::u8, .values = {1, 2, 3, 4}}},
       .build = placed({3, 4}, {.begin = {1, 0}, .step = {1, 3}}),
       .expected = {0, 0, 0, 0, 1, 0, 0, 2, 3, 0, 0, 4},
       .differentiable = false},
  };
}

TEST(Slice, forgets_the_place_of_samples_that_it_cuts) {
  const auto x = Tensor::zeros({4, 2}, DType::f32, "BC").relabelled("BC", {8, 4});
  EXPECT_EQ(slice(x, {.begin = {0, 1}}).spec().part, (BatchPart{8, 4}));
  EXPECT_EQ(slice(x, {.begin = {1}}).spec().part, BatchPart());
}

TEST(Slice, refuses_a_range_outside_of_the_axis) {
  EXPECT_EQ(error_text([] { slice(Tensor::zeros({2, 3}), {.begin = {0, 1}, .end = {2, 4}}, {"model.cpp", 7}); }),
            "error[RT0173]: slice: the range 1 to 4 is not inside axis 1\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3]\n"
            "  expected: 0 <= begin <= end <= 3");
}

TEST(Slice, refuses_a_step_below_one) {
  EXPECT_EQ(error_text([] { slice(Tensor::zeros({2, 3}), {.step = {0}}, {"model.cpp", 7}); }),
            "error[RT0172]: slice: the step 0 of axis 0 is not positive\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3]\n"
            "  expected: steps of 1 or more");
}

TEST(Slice, refuses_more_entries_than_axes) {
  EXPECT_EQ(error_text([] { slice(Tensor::zeros({2}), {.begin = {0, 0}}, {"model.cpp", 7}); }),
            "error[RT0171]: slice: begin [0,0] does not fit the axes of x\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2]\n"
            "  expected: at most 1 entries");
}

TEST(Pad, refuses_a_shape_that_is_too_small) {
  EXPECT_EQ(error_text([] { pad(Tensor::zeros({2, 3}), {2, 4}, {.begin = {0, 2}}, {"model.cpp", 7}); }),
            "error[RT0174]: pad: x does not fit into axis 1 of the shape [2,4]\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3]\n"
            "  expected: begin + (size - 1) * step < 4");
  EXPECT_EQ(error_text([] { pad(Tensor::zeros({2, 3}), {4}, PadOptions(), {"model.cpp", 7}); }),
            "error[RT0171]: pad: shape [4] does not fit the axes of x\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3]\n"
            "  expected: 2 entries");
  EXPECT_EQ(error_text([] { pad(Tensor::zeros({2}), {4}, {.step = {0}}, {"model.cpp", 7}); }),
            "error[RT0172]: pad: the step 0 of axis 0 is not positive\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2]\n"
            "  expected: steps of 1 or more");
}

}  // namespace
}  // namespace retrace
