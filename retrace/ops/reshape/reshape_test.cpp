#include "retrace/ops/reshape/reshape.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseFunction to(Shape shape, std::string labels = "") {
  return [=](const std::vector<Tensor>& in) { return std::vector<Tensor>{reshape(in[0], shape, labels)}; };
}

OP_EXAMPLE(reshape, reshape(Tensor::arange(6), {2, 3}));
OP_EXAMPLE(flatten, flatten(reshape(Tensor::arange(8), {2, 2, 2})));
OP_EXAMPLE(squeeze, squeeze(reshape(Tensor::arange(3), {1, 3, 1})));
OP_EXAMPLE(unsqueeze, unsqueeze(Tensor::arange(3), 0));

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
       .name = "squeezed",
       .inputs = {{.shape = {2, 1, 3, 1}, .labels = "BSSC"}},
       .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{squeeze(in[0], "C")}; }},
      {.op = "reshape",
       .name = "unsqueezed",
       .inputs = {{.shape = {2, 3}}},
       .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{unsqueeze(in[0], {0, -1})}; }},
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

TEST(Squeeze, takes_labels_along) {
  const auto x = Tensor::zeros({1, 2, 1, 3}, DType::f32, "BSSC");
  EXPECT_EQ(squeeze(x).spec().text(), "f32[2,3] \"SC\"");
  EXPECT_EQ(squeeze(x, {0, -2}).spec().text(), "f32[2,3] \"SC\"");
  EXPECT_EQ(squeeze(x, "B").spec().text(), "f32[2,1,3] \"SSC\"");
  EXPECT_EQ(squeeze(Tensor::zeros({1, 1})).spec().text(), "f32[]");
  EXPECT_EQ(error_text([&] { squeeze(x, "C", {"model.cpp", 7}); }),
            "error[RT0147]: squeeze: axis 3 has the size 3\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[1,2,1,3] \"BSSC\"\n"
            "  expected: axes of size 1\n"
            "  help:     select(x, axis, i) takes one element of a longer axis");
}

TEST(Unsqueeze, puts_a_label_where_it_belongs) {
  const auto x = Tensor::zeros({2, 3}, DType::f32, "SC"), plain = Tensor::zeros({2, 3});
  EXPECT_EQ(unsqueeze(x, "B").spec().text(), "f32[1,2,3] \"BSC\"");
  EXPECT_EQ(unsqueeze(x, "S").spec().text(), "f32[2,1,3] \"SSC\"");
  EXPECT_EQ(unsqueeze(x, "TB").spec().text(), "f32[1,1,2,3] \"BTSC\"");
  EXPECT_EQ(unsqueeze(x, -1).spec().text(), "f32[2,3,1] \"SCU\"");
  EXPECT_EQ(unsqueeze(x, 0).spec().text(), "f32[1,2,3]");
  EXPECT_EQ(unsqueeze(plain, {0, 2}).spec().text(), "f32[1,2,1,3]");
  EXPECT_EQ(unsqueeze(Tensor::scalar(1.0f), "B").spec().text(), "f32[1] \"B\"");
}

TEST(Unsqueeze, refuses_an_axis_without_a_place) {
  const auto x = Tensor::zeros({2, 3});
  EXPECT_EQ(error_text([&] { unsqueeze(x, 3, {"model.cpp", 7}); }),
            "error[RT0134]: unsqueeze: axis 3 does not exist in the result\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3], to which 1 axes are added\n"
            "  expected: an axis from -3 to 2");
  EXPECT_EQ(error_text([&] { unsqueeze(x, {0, -4}, {"model.cpp", 7}); }),
            "error[RT0137]: unsqueeze: axis 0 stands twice in the axes [0,-4]\n"
            "  where:    model.cpp:7\n"
            "  expected: each axis once");
  EXPECT_EQ(error_text([&] { unsqueeze(x, "B", {"model.cpp", 7}); }),
            "error[RT0148]: unsqueeze: an axis labelled B has no place\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3]\n"
            "  expected: a tensor with labels\n"
            "  help:     name the place of the axis by its number, or give x labels with reshape");
  EXPECT_EQ(error_text([&] { unsqueeze(x, {}, {"model.cpp", 7}); }),
            "error[RT0114]: unsqueeze: 0 axes are named\n"
            "  where:    model.cpp:7\n"
            "  got:      none\n"
            "  expected: one axis or more");
  EXPECT_EQ(error_text([] { unsqueeze(Tensor::zeros({1, 1, 1, 1, 1, 1, 1, 1}), 0, {"model.cpp", 7}); }),
            "error[RT0101]: a tensor has at most 8 axes\n"
            "  where:    model.cpp:7\n"
            "  help:     merge axes with reshape");
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
