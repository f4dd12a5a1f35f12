#include "retrace/ops/reshape/reshape.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseFunction to(Shape shape, std::string labels = "") {
  return [=](const std::vector<Tensor>& in) { return std::vector<Tensor>{reshape(in[0], shape, labels)}; };
}

OP_CASES(reshape) {
  return {
      {.op = "reshape", .name = "odd", .inputs = {{.shape = {3, 5, 7}}}, .build = to({7, 15})},
      {.op = "reshape", .name = "open", .inputs = {{.shape = {3, 4, 5}}}, .build = to({-1, 10})},
      {.op = "reshape", .name = "to_rank_0", .inputs = {{.shape = {1, 1}}}, .build = to({})},
      {.op = "reshape", .name = "empty", .inputs = {{.shape = {0, 5}}}, .build = to({5, 0})},
      {.op = "reshape", .name = "labels", .inputs = {{.shape = {6, 2}, .labels = "BC"}}, .build = to({6, 1, 2}, "BSC")},
      {.op = "reshape",
       .name = "flatten",
       .inputs = {{.shape = {2, 3, 4, 5}, .labels = "BSSC"}},
       .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{flatten(in[0])}; }},
      {.op = "reshape",
       .name = "special_values",
       .inputs = {{.shape = {16}, .values = special_values()}},
       .build = to({4, 4}),
       .differentiable = false},
  };
}

TEST(Reshape, refuses_another_number_of_elements) {
  EXPECT_EQ(error_text([] { reshape(Tensor::zeros({2, 3}), {4, 2}, "", {"model.cpp", 7}); }),
            "error[RT0140]: reshape: 6 elements do not fill the shape [4,2]\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3]\n"
            "  expected: 8 elements");
  EXPECT_EQ(error_text([] { reshape(Tensor::zeros({2, 3}), {-1, -1}, "", {"model.cpp", 7}); }),
            "error[RT0141]: reshape: the shape [-1,-1] is not usable\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3]\n"
            "  expected: sizes, and -1 at most once");
  EXPECT_EQ(error_text([] { reshape(Tensor::zeros({2, 3}), {4, -1}, "", {"model.cpp", 7}); }),
            "error[RT0140]: reshape: 6 elements do not fill the shape [4,-1]\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3]\n"
            "  expected: a multiple of 4 elements");
  EXPECT_EQ(error_text([] { reshape(Tensor::zeros({0}), {0, -1}, "", {"model.cpp", 7}); }),
            "error[RT0140]: reshape: 0 elements do not fill the shape [0,-1]\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[0]\n"
            "  expected: no size 0 beside -1");
}

TEST(Reshape, refuses_labels_that_do_not_fit) {
  EXPECT_EQ(error_text([] { reshape(Tensor::zeros({2, 3}), {6}, "BC", {"model.cpp", 7}); }),
            "error[RT0112]: reshape: labels \"BC\" do not fit the shape [6]\n"
            "  where:    model.cpp:7\n"
            "  expected: one label for each axis\n"
            "  help:     write U for an axis without a meaning of its own");
  EXPECT_EQ(error_text([] { reshape(Tensor::zeros({2}), {2}, "X", {"model.cpp", 7}); }),
            "error[RT0110]: unknown label 'X' in \"X\"\n"
            "  where:    model.cpp:7\n"
            "  expected: labels B (batch), T (time), S (space), C (channel), U (unspecified)");
}

}  // namespace
}  // namespace retrace
