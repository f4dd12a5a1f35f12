#include "retrace/ops/unfold/unfold.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(unfold, unfold(Tensor::arange(5), 0, 3));

OP_CASES(unfold) {
  struct Sizes {
    const char* name;
    Shape x;
    Axes axis;
    int64_t size;
    UnfoldOptions options = {};
    std::string labels = "";
  };
  const std::vector<Sizes> all = {{"of_unfold_row", {3, 9}, 1, 3},
                                  {"of_unfold_steps", {11, 2}, 0, 3, {.step = 2}},
                                  {"of_unfold_dilated", {2, 9, 3}, 1, 3, {.step = 2, .dilation = 2}},
                                  {"of_unfold_long_windows", {2, 9, 3}, 1, 7},
                                  {"of_unfold_labelled", {2, 6, 3}, "T", 2, {}, "BTC"},
                                  {"of_unfold_labelled_long", {2, 6, 3}, "T", 5, {}, "BTC"}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, axis, size, options, labels] : all)
    cases.push_back({.op = "concatenate",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [axis = axis, size = size, options = options](const auto& in) {
                       return std::vector<Tensor>{unfold(in[0], axis, size, options)};
                     }});
  return cases;
}

TEST(Unfold, HasTheWindowsOfAnAxis) {
  using Integers = std::vector<int32_t>;
  const Tensor x = Tensor::arange(6, DType::i32);
  EXPECT_EQ(unfold(x, 0, 4).to_vector<int32_t>(), (Integers{0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5}));
  EXPECT_EQ(unfold(x, 0, 2, {.step = 3}).to_vector<int32_t>(), (Integers{0, 1, 3, 4}));
  EXPECT_EQ(unfold(x, 0, 3, {.dilation = 2}).to_vector<int32_t>(), (Integers{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(unfold(x, 0, 6).shape(), (Shape{1, 6}));
  EXPECT_EQ(unfold(Tensor::zeros({2, 6, 3}, DType::f32, "BTC"), "T", 2).spec().text(), "f32[2,5,3,2] \"BTCU\"");
  EXPECT_EQ(unfold(Tensor::zeros({2, 6, 3}, DType::f32, "BTC"), "T", 5).spec().text(), "f32[2,2,3,5] \"BTCU\"");
}

TEST(Unfold, SaysWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 5});
  EXPECT_EQ(error_text([&] { unfold(x, 1, 6, {}, {"model.cpp", 7}); }),
            "error[RT0282]: unfold: a window of 6 with dilation 1 does not fit into axis 1 of 5\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,5]\n"
            "  expected: a window inside of the axis");
  EXPECT_NE(error_text([&] { unfold(x, 1, 3, {.dilation = 3}); }).find("RT0282"), std::string::npos);
  EXPECT_NE(error_text([&] { unfold(x, 1, 2, {.step = 0}); }).find("size 2, step 0, dilation 1"), std::string::npos);
  EXPECT_NE(error_text([&] { unfold(x, 2, 2); }).find("axis 2 does not exist"), std::string::npos);
}

}  // namespace
}  // namespace retrace
