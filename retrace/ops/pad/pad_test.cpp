#include "retrace/ops/pad/pad.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OpCase padded_case(const char* op, const char* name, Shape shape, Axes axes, PadMargins margins) {
  return {.op = op, .name = name, .inputs = {{.shape = shape}}, .build = [=](const auto& in) {
            return std::vector{pad(in[0], axes, margins)};
          }};
}

OP_EXAMPLE(pad, pad(Tensor::arange(4), 0, {.before = 2, .after = 1, .mode = "reflect"}));

OP_CASES(pad) {
  std::vector<OpCase> cases{
      padded_case("pad", "margins", {3, 5, 7}, {0, 2}, {.before = 2, .after = 1}),
      padded_case("concatenate", "of_pad_value", {3, 5}, {0, 1}, {.before = 1, .after = 2, .value = -1.5}),
      padded_case("concatenate", "of_pad_reflect", {3, 5, 4}, {0, 1}, {2, 1, "reflect"}),
      padded_case("concatenate", "of_pad_reflect_most", {5}, {0}, {4, 4, "reflect"}),
      padded_case("concatenate", "of_pad_replicate", {3, 5, 4}, {1, 2}, {2, 3, "replicate"}),
      padded_case("concatenate", "of_pad_replicate_one", {1, 3}, {0}, {0, 3, "replicate"}),
  };
  cases.push_back(padded_case("concatenate", "of_pad_labelled", {2, 4, 4, 3}, "S", {1, 1, "reflect"}));
  cases.back().inputs[0].labels = "BSSC";
  return cases;
}

std::vector<int32_t> padded_values(const Tensor& x) { return x.to_vector<int32_t>(); }

TEST(Pad, AddsMargins) {
  const auto x = Tensor::from<int32_t>({1, 2, 3, 4}, {4});
  EXPECT_EQ(padded_values(pad(x, 0, {1, 2})), (std::vector<int32_t>{0, 1, 2, 3, 4, 0, 0}));
  EXPECT_EQ(padded_values(pad(x, 0, {.after = 1, .value = -7})), (std::vector<int32_t>{1, 2, 3, 4, -7}));
  EXPECT_EQ(padded_values(pad(x, 0, {3, 2, "reflect"})), (std::vector<int32_t>{4, 3, 2, 1, 2, 3, 4, 3, 2}));
  EXPECT_EQ(padded_values(pad(x, 0, {3, 2, "replicate"})), (std::vector<int32_t>{1, 1, 1, 1, 2, 3, 4, 4, 4}));
  EXPECT_EQ(padded_values(pad(x, 0, {0, 0, "reflect"})), padded_values(x));
  const auto zero = pad(Tensor::zeros({1}), 0, {.after = 1, .value = -0.0}).to_vector<float>();
  EXPECT_TRUE(std::signbit(zero[1]) && !std::signbit(zero[0]));
}

TEST(Pad, TakesSeveralAxesAndLabels) {
  const auto x = Tensor::from<int32_t>({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(padded_values(pad(x, {0, 1}, {1, 0, "reflect"})), (std::vector<int32_t>{4, 3, 4, 2, 1, 2, 4, 3, 4}));
  const auto image = Tensor::zeros({2, 3, 4, 1}, DType::f32, "BSSC");
  EXPECT_EQ(pad(image, "S", {1, 2, "replicate"}).spec().text(), "f32[2,6,7,1] \"BSSC\"");
  EXPECT_EQ(pad(image, "S", {1, 1}).spec().text(), "f32[2,5,6,1] \"BSSC\"");
  EXPECT_EQ(pad(Tensor::zeros({2, 0}), 1, {.before = 2, .value = 3}).to_vector<float>(), std::vector<float>(4, 3.0f));
}

TEST(Pad, SaysWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_EQ(error_text([&] { pad(x, 1, {3, 0, "reflect"}, {"model.cpp", 7}); }),
            "error[RT0246]: pad: axis 1 of 3 elements has no 3 to reflect\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3]\n"
            "  expected: more elements than are added on one side");
  EXPECT_EQ(error_text([&] { pad(x, 1, {1, 0, "edge"}, {"model.cpp", 7}); }),
            "error[RT0246]: pad: there is no mode \"edge\"\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3]\n"
            "  expected: constant, reflect or replicate\n"
            "  help:     did you mean replicate?");
  const auto contains = [&](const Axes& axes, const PadMargins& margins, const char* part) {
    const std::string text = error_text([&] { pad(x, axes, margins); });
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  contains(0, {.before = -1}, "pad: -1 elements before and 0 after");
  contains({}, {.before = 1}, "pad: no axes are named");
  contains(2, {.before = 1}, "pad: axis 2 does not exist");
  EXPECT_NE(error_text([] { pad(Tensor::zeros({0}), 0, {1, 0, "replicate"}); }).find("no element to replicate"),
            std::string::npos);
  EXPECT_NE(error_text([] {
              pad(Tensor::zeros({2}, DType::i32), 0, {.before = 1, .value = 0.5});
            }).find("the value 0.5 does not fit the type i32"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace
