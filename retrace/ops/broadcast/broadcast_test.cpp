#include "retrace/ops/broadcast/broadcast.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseFunction to(Shape shape, std::string labels = "") {
  return [=](const std::vector<Tensor>& in) { return std::vector<Tensor>{broadcast(in[0], shape, labels)}; };
}

OP_EXAMPLE(broadcast, broadcast(Tensor::arange(3), {2, 3}));
OP_EXAMPLE(tile, tile(Tensor::arange(3), {2}));
OP_EXAMPLE(repeat_interleave, repeat_interleave(Tensor::arange(3), 0, 2));

OP_CASES(broadcast) {
  return {
      {.op = "broadcast", .name = "a_number", .inputs = {{}}, .build = to({3, 5})},
      {.op = "broadcast", .name = "a_row", .inputs = {{.shape = {5}}}, .build = to({3, 5}, "BC")},
      {.op = "broadcast", .name = "a_column", .inputs = {{.shape = {3, 1}}}, .build = to({3, 300})},
      {.op = "broadcast", .name = "in_between", .inputs = {{.shape = {2, 1, 3, 1}}}, .build = to({2, 5, 3, 7}, "BSSC")},
      {.op = "broadcast", .name = "to_empty", .inputs = {{.shape = {1, 3}}}, .build = to({0, 3})},
      {.op = "broadcast",
       .name = "tiled",
       .inputs = {{.shape = {2, 3}, .labels = "BC"}},
       .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{tile(in[0], {3, 2})}; }},
      {.op = "broadcast",
       .name = "repeated",
       .inputs = {{.shape = {2, 3, 2}}},
       .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{repeat_interleave(in[0], 1, 3)}; }},
      {.op = "broadcast",
       .name = "special_values",
       .inputs = {{.shape = {16, 1}, .values = special_values()}},
       .build = to({16, 3}),
       .differentiable = false},
      {.op = "broadcast",
       .name = "integers",
       .inputs = {{.shape = {2, 1}, .type = DType::i32, .values = {16777217, -5}}},
       .build = to({2, 2}),
       .expected = {16777217, 16777217, -5, -5},
       .differentiable = false},
      {.op = "broadcast",
       .name = "bool",
       .inputs = {{.shape = {2, 1}, .type = DType::boolean, .values = {1, 0}}},
       .build = to({2, 2}),
       .expected = {1, 1, 0, 0},
       .differentiable = false},
  };
}

TEST(Broadcast, refuses_a_shape_that_does_not_fit) {
  EXPECT_EQ(error_text([] { broadcast(Tensor::zeros({2, 3}), {2, 4}, "", {"model.cpp", 7}); }),
            "error[RT0135]: broadcast: x does not stretch to the shape [2,4]\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3]\n"
            "  expected: for each axis of x, from the last, size 1 or that of the shape\n"
            "  help:     reshape x so that its axes align");
}

TEST(Tile, puts_copies_behind_each_other) {
  const auto x = Tensor::from<int32_t>({1, 2, 3, 4}, {2, 2}, "BC");
  EXPECT_EQ(tile(x, {2}).to_vector<int32_t>(), (std::vector<int32_t>{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(tile(x, {2, 1}).to_vector<int32_t>(), (std::vector<int32_t>{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(tile(x, {2, 1}).spec().text(), "i32[4,2] \"BC\"");
  EXPECT_EQ(tile(x, {2, 1, 1}).spec().text(), "i32[2,2,2]");
  EXPECT_EQ(tile(x, {0, 3}).spec().text(), "i32[0,6] \"BC\"");
  EXPECT_EQ(error_text([&] { tile(x, {2, -1}, {"model.cpp", 7}); }),
            "error[RT0200]: tile: -1 copies are asked for\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[2,2] \"BC\"\n"
            "  expected: counts of 0 or more");
}

TEST(RepeatInterleave, puts_copies_of_an_element_side_by_side) {
  const auto x = Tensor::from<int32_t>({1, 2, 3, 4}, {2, 2}, "BC");
  EXPECT_EQ(repeat_interleave(x, "C", 2).to_vector<int32_t>(), (std::vector<int32_t>{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(repeat_interleave(x, 0, 2).to_vector<int32_t>(), (std::vector<int32_t>{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(repeat_interleave(x, 0, 2).spec().text(), "i32[4,2] \"BC\"");
  EXPECT_THROW(repeat_interleave(x, 0, -2), Error);
}

TEST(Broadcast, refuses_labels_that_do_not_fit) {
  EXPECT_EQ(error_text([] { broadcast(Tensor::zeros({3}), {2, 3}, "B", {"model.cpp", 7}); }),
            "error[RT0112]: broadcast: labels \"B\" do not fit the shape [2,3]\n"
            "  where:    model.cpp:7\n"
            "  expected: one label for each axis\n"
            "  help:     write U for an axis without a meaning of its own");
}

TEST(Broadcast, refuses_a_negative_size) {
  EXPECT_EQ(error_text([&] { broadcast(Tensor::zeros({3}), {-1, 3}, "", {"model.cpp", 7}); }),
            "error[RT0102]: broadcast: the shape [-1,3] has a negative size\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3]\n"
            "  expected: sizes of 0 or more");
}

}  // namespace
}  // namespace retrace
