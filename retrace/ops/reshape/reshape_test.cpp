#include "retrace/ops/reshape/reshape.h"

#include <gtest/gtest.h>

#include "retrace/ops/op_case.h"

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
}

}  // namespace
}  // namespace retrace
