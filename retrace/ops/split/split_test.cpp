#include "retrace/ops/split/split.h"

#include <gtest/gtest.h>

#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

const Place place{"model.cpp", 7};

OP_EXAMPLE(split, split(Tensor::arange(5), 0, {2, 3}));
OP_EXAMPLE(unstack, unstack(reshape(Tensor::arange(6), {2, 3})));

OP_CASES(split) {
  const CaseInput count8{.shape = {2, 4}, .type = DType::i32, .values = {0, 1, 2, 3, 4, 5, 6, 7}};
  const auto in_two = [](const std::vector<Tensor>& in) { return split(in[0], 1, 2); };
  // Of some parts nothing is used.
  const auto some = [](const std::vector<Tensor>& in) {
    const auto parts = unstack(in[0], "T");
    return std::vector<Tensor>{parts[0] * parts[3], parts[3] + 1};
  };
  return {
      {.op = "split", .name = "in_two", .inputs = {{.shape = {3, 6, 2}}}, .build = in_two},
      {.op = "split",
       .name = "exact",
       .inputs = {count8},
       .build = in_two,
       .expected = {0, 1, 4, 5},
       .differentiable = false},
      {.op = "split",
       .name = "of_the_first_axis",
       .inputs = {{.shape = {6, 5}, .labels = "BC"}},
       .build = [](const std::vector<Tensor>& in) { return split(in[0], "B", 3); }},
      {.op = "split",
       .name = "of_nothing",
       .inputs = {{.shape = {0, 5}}},
       .build = [](const std::vector<Tensor>& in) { return split(in[0], 0, 3); }},
      {.op = "split",
       .name = "special_values",
       .inputs = {{.shape = {2, 8}, .values = special_values()}},
       .build = [](const std::vector<Tensor>& in) { return unstack(in[0], 1); },
       .differentiable = false},
      {.op = "split", .name = "unstacked", .inputs = {{.shape = {3, 5, 4}, .labels = "BTC"}}, .build = some},
      {.op = "slice",
       .name = "split_by_sizes",
       .inputs = {{.shape = {4, 5}, .labels = "BC"}},
       .build = [](const std::vector<Tensor>& in) { return split(in[0], "B", {3, 0, 1}); }},
  };
}

TEST(Split, concatenate_joins_what_split_has_cut) {
  const auto x = Tensor::from<int32_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4}, "BC");
  const auto parts = split(x, "C", {1, 3});
  EXPECT_EQ(parts[1].to_vector<int32_t>(), (std::vector<int32_t>{2, 3, 4, 6, 7, 8}));
  EXPECT_EQ(concatenate(parts, "C").to_vector<int32_t>(), x.to_vector<int32_t>());
  EXPECT_EQ(split(x, 0, 2)[1].to_vector<int32_t>(), (std::vector<int32_t>{5, 6, 7, 8}));
  EXPECT_EQ(split(Tensor::zeros({0, 2}), 0, 3).size(), 3u);
  EXPECT_TRUE(split(Tensor::zeros({0, 2}), 0, std::initializer_list<int64_t>{}).empty());
}

TEST(Split, unstack_is_the_reverse_of_stack) {
  const auto x = Tensor::from<int32_t>({1, 2, 3, 4, 5, 6}, {3, 2}, "BC");
  const auto parts = unstack(x, "C");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].spec().text(), "i32[3] \"B\"");
  EXPECT_EQ(parts[1].to_vector<int32_t>(), (std::vector<int32_t>{2, 4, 6}));
  EXPECT_TRUE(unstack(Tensor::zeros({0, 2})).empty());
  const auto part = Tensor::zeros({4, 2}, DType::f32, "BC").relabelled("BC", {8, 4});
  EXPECT_EQ(unstack(part, "C")[0].spec().part, (BatchPart{8, 4}));
}

TEST(Split, refuse_parts_that_do_not_make_up_the_axis) {
  const auto x = Tensor::zeros({7, 2});
  EXPECT_EQ(error_text([&] { split(x, 0, 3, place); }),
            "error[RT0166]: split: axis 0 of size 7 has no 3 equal parts\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[7,2]\n"
            "  expected: a number of parts that divides the size of the axis\n"
            "  help:     split(x, axis, {...}) takes the size of each part");
  EXPECT_THROW(split(x, 0, 0), Error);
  EXPECT_EQ(error_text([&] { split(x, 0, {3, 3}, place); }),
            "error[RT0167]: split: the sizes [3,3] do not make up axis 0\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[7,2]\n"
            "  expected: sizes of 0 or more that add up to 7");
  EXPECT_THROW(split(x, 0, {8, -1}), Error);
}

}  // namespace
}  // namespace retrace
