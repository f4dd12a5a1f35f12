#include "retrace/ops/cumsum/cumsum.h"

#include <gtest/gtest.h>

#include "retrace/ops/cumsum/linear_recurrence.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

using Function = Tensor (*)(const Tensor&, const Axes&, const CumulativeOptions&, Place);

OpCase running(const char* op, Function f, const char* name, Shape shape, int axis, bool reverse = false) {
  const bool product = std::string_view(op) == "cumprod";
  return {.op = op,
          .name = name,
          .inputs = {{.shape = shape, .low = product ? 0.75 : -2, .high = product ? 1.25 : 2}},
          .build = [=](const auto& in) { return std::vector{f(in[0], axis, {.reverse = reverse}, Place())}; },
          .bound = {.ulp = product ? 64.0 : 0.0, .relative = 4e-6},
          .gradient = {.ulp = 64, .relative = 8e-6, .tiny = true}};
}

void add_shapes(std::vector<OpCase>& cases, const char* op, Function f) {
  cases.push_back(running(op, f, "row", {5, 37}, -1));
  cases.push_back(running(op, f, "column", {37, 5}, 0));
  cases.push_back(running(op, f, "middle", {3, 13, 4}, 1));
  cases.push_back(running(op, f, "reverse", {3, 13, 4}, 1, true));
  cases.push_back(running(op, f, "reverse_row", {5, 37}, 1, true));
  cases.push_back(running(op, f, "wide", {3, 9, 1031}, 1));
  cases.push_back(running(op, f, "many_rows", {3001, 7}, 1));
  cases.push_back(running(op, f, "one", {1, 1}, 0));
  cases.push_back(running(op, f, "empty", {0, 3}, 1));
  cases.push_back(running(op, f, "empty_axis", {3, 0}, 1));
  cases.push_back(running(op, f, "labelled", {6, 3, 3, 5}, 3));
  cases.back().inputs[0].labels = "BSSC";
}

OpCase exact(const char* op, Function f, const char* name, DType type, std::vector<double> values,
             std::vector<double> expected, bool reverse = false) {
  OpCase made = running(op, f, name, {static_cast<int64_t>(values.size())}, 0, reverse);
  made.inputs[0].type = type, made.inputs[0].values = std::move(values);
  made.expected = std::move(expected), made.differentiable = false;
  return made;
}

OpCase recurrence(const char* name, Shape shape, int axis, bool reverse = false) {
  return {.op = "linear_recurrence",
          .name = name,
          .inputs = {{.shape = shape, .low = -1, .high = 1}, {.shape = shape}},
          .build = [=](const auto& in) { return std::vector{linear_recurrence(in[0], in[1], axis, reverse, Place())}; },
          .bound = {.relative = 2e-6},
          .gradient = {.ulp = 8, .relative = 8e-6, .tiny = true}};
}

OP_EXAMPLE(cumsum, cumsum(Tensor::from<float>({1, 2, 3, 4}, {4}), 0));
OP_EXAMPLE(cumprod, cumprod(Tensor::from<float>({1, 2, 3, 4}, {4}), 0, {.reverse = true}));

OP_CASES(cumsum) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  std::vector<OpCase> cases;
  add_shapes(cases, "cumsum", cumsum);
  add_shapes(cases, "cumprod", cumprod);
  cases.push_back(exact("cumsum", cumsum, "specials", DType::f32, {-0.0, -0.0, 1, infinity, 1, -infinity, 1},
                        {-0.0, -0.0, 1, infinity, infinity, nan, nan}));
  cases.push_back(
      exact("cumsum", cumsum, "in_order", DType::f32, {0x1p24, 1, 1, -0x1p24}, {0x1p24, 0x1p24, 0x1p24, 0}));
  cases.push_back(exact("cumsum", cumsum, "in_reverse", DType::f32, {0x1p24, 1, 1, -0x1p24},
                        {2, -16777214, -16777215, -0x1p24}, true));
  cases.push_back(exact("cumsum", cumsum, "integers", DType::i32, {0x7fffffff, 1, 5, -5},
                        {0x7fffffff, -0x80000000ll, -0x7ffffffbll, -0x80000000ll}));
  cases.push_back(exact("cumsum", cumsum, "of_bool", DType::boolean, {1, 0, 1, 1}, {1, 1, 2, 3}));
  cases.push_back(exact("cumprod", cumprod, "integers", DType::i32, {3, -5, 7, 65537, 65537},
                        {3, -15, -105, -105.0 * 65537, -105.0 * 131073}));
  cases.push_back(
      exact("cumprod", cumprod, "specials", DType::f32, {-1, 0.0, 5, infinity, 1}, {-1, -0.0, -0.0, nan, nan}));
  cases.push_back(exact("cumprod", cumprod, "of_u8", DType::u8, {200, 200, 2}, {200, 40000, 80000}));
  OpCase zeros = running("cumprod", cumprod, "zeros", {4, 5}, 1);
  zeros.inputs[0].values = {2, 0, 3, -1, 0.5, 1, 2, 3, 4, 5, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0};
  cases.push_back(zeros);
  zeros.name = "zeros_in_reverse";
  zeros.build = [](const auto& in) { return std::vector{cumprod(in[0], 1, {.reverse = true})}; };
  cases.push_back(zeros);
  for (const bool reverse : {false, true}) {
    const std::string side = reverse ? "_in_reverse" : "";
    cases.push_back(recurrence(("row" + side).c_str(), {5, 37}, 1, reverse));
    cases.push_back(recurrence(("middle" + side).c_str(), {3, 13, 4}, 1, reverse));
    cases.push_back(recurrence(("column" + side).c_str(), {13, 5}, 0, reverse));
  }
  cases.push_back(recurrence("empty", {0, 3}, 0));
  return cases;
}

TEST(Cumsum, TakesLabelsAndWidensBytes) {
  EXPECT_EQ(cumsum(Tensor::zeros({2, 3}, DType::f32, "BC"), "C").spec().text(), "f32[2,3] \"BC\"");
  EXPECT_EQ(cumsum(Tensor::from<uint8_t>({200, 100}, {2}), 0).to_vector<int32_t>(), (std::vector<int32_t>{200, 300}));
  EXPECT_EQ(cumprod(Tensor::from<float>({1, 2, 3, 4}, {2, 2}), 0).to_vector<float>(), (std::vector<float>{1, 2, 3, 8}));
}

TEST(Cumsum, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_text([] { cumsum(Tensor::zeros({2, 3}), 2, {}, {"model.cpp", 7}); }),
            "error[RT0134]: cumsum: axis 2 does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      a tensor with 2 axes\n"
            "  expected: an axis from -2 to 1");
  EXPECT_NE(error_text([] { cumprod(Tensor::zeros({2, 3}), {0, 1}); }).find("cumprod: 2 axes are named"),
            std::string::npos);
  EXPECT_EQ(infer_error("cumsum", {{"axis", int64_t{0}}, {"reverse", int64_t{0}}}, {{DType::u8, {3}, {}, {}}}),
            "error[RT0131]: cumsum: x is u8\n"
            "  where:    model.cpp:7\n"
            "  got:      x u8[3]\n"
            "  expected: f32, f64 or i32\n"
            "  help:     cast(x, DType::i32)");
  EXPECT_EQ(infer_error("linear_recurrence", {{"axis", int64_t{0}}, {"reverse", int64_t{0}}},
                        {{DType::f32, {3}, {}, {}}, {DType::f32, {4}, {}, {}}}),
            "error[RT0135]: linear_recurrence: a does not fit b\n"
            "  where:    model.cpp:7\n"
            "  got:      a f32[3] and b f32[4]\n"
            "  expected: one type and one shape");
}

}  // namespace
}  // namespace retrace
